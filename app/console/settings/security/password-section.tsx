"use client";

import { RectangleEllipsis } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { TextField } from "../../_ui/form/form";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ItemList, ListItem } from "./list-item";
import { useAccountQueries } from "./use-account-queries";

const charsMin = 12;

/** The password of the user, if they have one. */
export function PasswordSection({ hasPassword }: { hasPassword: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Password" note="Stored only as a hash.">
      <ItemList label="Password">
        <ListItem
          Icon={RectangleEllipsis}
          title={hasPassword ? "Password" : "No password"}
          actions={
            hasPassword ? (
              <Button isSmall onClick={() => setOpen(true)}>
                Change
              </Button>
            ) : null
          }
        >
          {hasPassword
            ? "Changing it ends your other sessions and invalidates emailed links."
            : "You sign in with another method. To set a password, sign out and choose “Forgot password?”, or ask the operator for a link."}
        </ListItem>
      </ItemList>
      {isOpen ? <ChangePassword onClose={() => setOpen(false)} /> : null}
    </Section>
  );
}

function ChangePassword({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState, getValues } = useForm({
    defaultValues: { current: "", next: "", again: "" },
  });
  const { errors } = formState;
  const changing = useAction(trpc.account.changePassword.mutationOptions(), {
    done: "Password changed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title="Change password">
      <ActionForm
        onSubmit={handleSubmit(({ current, next }) => changing.run({ current, next }))}
        action={changing}
        submitLabel="Change password"
        onCancel={onClose}
      >
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          error={errors.current}
          {...register("current", { required: "Enter your current password." })}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`At least ${charsMin} characters. Several words are stronger than a short password with symbols.`}
          error={errors.next}
          {...register("next", {
            required: "Enter a new password.",
            minLength: { value: charsMin, message: `Enter at least ${charsMin} characters.` },
            maxLength: { value: 256, message: "Enter at most 256 characters." },
          })}
        />
        <TextField
          label="Confirm new password"
          type="password"
          autoComplete="new-password"
          error={errors.again}
          {...register("again", {
            validate: (again) => again === getValues("next") || "The passwords do not match.",
          })}
        />
      </ActionForm>
    </Dialog>
  );
}
