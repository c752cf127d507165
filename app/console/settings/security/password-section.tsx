"use client";

import { useForm } from "react-hook-form";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { Section } from "../../_ui/section";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { useAccountQueries } from "./use-account-queries";

const EMPTY = { present: "", next: "", again: "" };
const charsMin = 12;

/** Another password for the present one. */
export function PasswordSection({ hasPassword }: { hasPassword: boolean }) {
  if (hasPassword)
    return (
      <Section title="Password" note="Changing it ends your other sessions.">
        <PasswordForm />
      </Section>
    );
  return (
    <Section title="Password">
      <p className="max-w-prose px-5 pb-5 text-soft leading-6">
        You have none: you sign in another way. To set one, sign out and choose “Forgot it?” on the sign-in
        page, or ask the operator for a link.
      </p>
    </Section>
  );
}

function PasswordForm() {
  const trpc = useTRPC();
  const { register, handleSubmit, formState, reset, getValues } = useForm({ defaultValues: EMPTY });
  const { errors } = formState;
  const changing = useAct(trpc.account.changePassword.mutationOptions(), {
    done: "Password changed",
    refresh: useAccountQueries(),
    onDone: () => reset(EMPTY),
  });
  const { fault } = changing;
  return (
    <form
      noValidate
      onSubmit={handleSubmit(({ present, next }) => changing.act({ present, next }))}
      className="flex max-w-xl flex-col gap-5 px-5 pb-5"
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
        hint={`At least ${charsMin} characters. A few words that you remember are better than one with signs in it.`}
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
      {fault ? <FormFault fault={fault} /> : null}
      <div>
        <SubmitButton isBusy={changing.isBusy}>Change the password</SubmitButton>
      </div>
    </form>
  );
}
