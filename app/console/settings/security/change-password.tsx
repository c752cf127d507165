"use client";

import { FormDialog } from "../../_ui/dialog/form-dialog";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { useTRPC } from "../../_ui/trpc";
import { useAccountAction } from "./use-account-action";

const charsMin = 12;

/** Replaces the password of the user. */
export function ChangePassword({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { field, handleSubmit, getValues } = useFields({
    defaultValues: { current: "", next: "", again: "" },
  });
  const changing = useAccountAction(trpc.account.changePassword.mutationOptions(), {
    done: "Password changed",
    onDone: onClose,
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Change password"
      onSubmit={handleSubmit(({ current, next }) => changing.run({ current, next }))}
      action={changing}
      submitLabel="Change password"
    >
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        {...field("current", { required: "Enter your current password." })}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${charsMin} characters. Several words are stronger than a short password with symbols.`}
        {...field("next", {
          required: "Enter a new password.",
          minLength: { value: charsMin, message: `Enter at least ${charsMin} characters.` },
          maxLength: { value: 256, message: "Enter at most 256 characters." },
        })}
      />
      <TextField
        label="Confirm new password"
        type="password"
        autoComplete="new-password"
        {...field("again", {
          validate: (again) => again === getValues("next") || "The passwords do not match.",
        })}
      />
    </FormDialog>
  );
}
