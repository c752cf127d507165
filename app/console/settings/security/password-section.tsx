"use client";

import { RectangleEllipsis } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { Section } from "../../_ui/section";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { LineItem, LineList } from "./line-item";
import { useAccountQueries } from "./use-account-queries";

const charsMin = 12;

/** The password of the reader, where they have one. */
export function PasswordSection({ hasPassword }: { hasPassword: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const change = (
    <button type="button" onClick={() => setOpen(true)} className={`${buttonStyle.plain} h-9`}>
      Change
    </button>
  );
  return (
    <Section title="Password" note="One of the ways in. It is kept only as a hash.">
      <LineList label="Password">
        <LineItem
          Icon={RectangleEllipsis}
          title={hasPassword ? "Password" : "No password"}
          actions={hasPassword ? change : null}
        >
          {hasPassword
            ? "Changing it ends your other sessions and every link that was mailed to you."
            : "You sign in another way. To set one, sign out and choose “Forgot it?” on the sign-in page, or ask the operator for a link."}
        </LineItem>
      </LineList>
      <Dialog open={isOpen} onOpenChange={setOpen} title="Change your password">
        <PasswordForm onClose={() => setOpen(false)} />
      </Dialog>
    </Section>
  );
}

function PasswordForm({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState, getValues } = useForm({
    defaultValues: { present: "", next: "", again: "" },
  });
  const { errors } = formState;
  const changing = useAct(trpc.account.changePassword.mutationOptions(), {
    done: "Password changed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit(({ present, next }) => changing.act({ present, next }))}
      className="flex flex-col gap-5"
    >
      <TextField
        label="Present password"
        type="password"
        autoComplete="current-password"
        error={errors.present}
        {...register("present", { required: "Give your present password." })}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${charsMin} characters. A few words that you remember do better than a short one with signs.`}
        error={errors.next}
        {...register("next", {
          required: "Give a new password.",
          minLength: { value: charsMin, message: `Take at least ${charsMin} characters.` },
          maxLength: { value: 256, message: "Take at most 256 characters." },
        })}
      />
      <TextField
        label="New password again"
        type="password"
        autoComplete="new-password"
        error={errors.again}
        {...register("again", {
          validate: (again) => again === getValues("next") || "The two are not the same.",
        })}
      />
      <FormFault fault={changing.fault} />
      <DialogActions>
        <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={changing.isBusy}>Change the password</SubmitButton>
      </DialogActions>
    </form>
  );
}
