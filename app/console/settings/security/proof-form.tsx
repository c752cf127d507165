"use client";

import { type ReactNode, useId } from "react";
import { useForm } from "react-hook-form";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { DialogActions } from "../../_ui/dialog/dialog";
import type { Fault } from "../../_ui/fault";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";

export type ProofKind = SignInMethodsView["proof"];

const PROOF_FIELDS: Record<Exclude<ProofKind, "fresh_session">, { label: string; hint: string }> = {
  password: { label: "Password", hint: "Confirms your identity." },
  code: {
    label: "Code",
    hint: "From your authenticator app, or a recovery code. Confirms your identity.",
  },
  password_or_code: {
    label: "Password or code",
    hint: "Your password, or a code from your authenticator app. Confirms your identity.",
  },
};

type Props = {
  kind: ProofKind;
  confirmLabel: string;
  tone?: "primary" | "danger";
  isBusy: boolean;
  fault: Fault | null;
  onProve: (proof: string) => void;
  onCancel: () => void;
  /** The consequences, and further fields. */
  children?: ReactNode;
};

/** Requires the user to confirm their identity before a sign-in protection changes. */
export function ProofForm(props: Props) {
  const { kind, confirmLabel, tone, isBusy, fault, onProve, onCancel, children } = props;
  const { register, handleSubmit, formState } = useForm({ defaultValues: { proof: "" } });
  const id = useId();
  const field = kind === "fresh_session" ? null : PROOF_FIELDS[kind];
  return (
    <form
      id={id}
      noValidate
      onSubmit={handleSubmit(({ proof }) => onProve(proof))}
      className="flex flex-col gap-5"
    >
      {children}
      {field ? (
        <TextField
          label={field.label}
          hint={field.hint}
          type="password"
          autoComplete="current-password"
          error={formState.errors.proof}
          {...register("proof", { required: "Enter it to confirm your identity." })}
        />
      ) : (
        <p className="text-soft leading-6">
          This is possible within ten minutes after sign-in. Later, sign out and sign in again first.
        </p>
      )}
      <FormFault fault={fault} />
      <DialogActions>
        <button type="button" onClick={onCancel} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={isBusy} {...(tone ? { tone } : {})}>
          {confirmLabel}
        </SubmitButton>
      </DialogActions>
    </form>
  );
}
