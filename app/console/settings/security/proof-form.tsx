"use client";

import { type ReactNode, useId } from "react";
import { useForm } from "react-hook-form";
import type { LocksView } from "#server/trpc/account-views";
import { DialogActions } from "../../_ui/dialog";
import type { Fault } from "../../_ui/fault";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";

export type ProofKind = LocksView["proof"];

const ASKED: Record<Exclude<ProofKind, "fresh_session">, { label: string; hint: string }> = {
  password: { label: "Your password", hint: "So that nobody does this at a screen you left." },
  code: {
    label: "A code",
    hint: "Of your authenticator app, or a recovery code. So that nobody does this at a screen you left.",
  },
  password_or_code: {
    label: "Your password, or a code",
    hint: "Of your authenticator app. So that nobody does this at a screen you left.",
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
  /** What will happen, and what else is asked. */
  children?: ReactNode;
};

/** Asks whoever is signed in to prove it once more, before a lock of their account is changed. */
export function ProofForm(props: Props) {
  const { kind, confirmLabel, tone, isBusy, fault, onProve, onCancel, children } = props;
  const { register, handleSubmit, formState } = useForm({ defaultValues: { proof: "" } });
  const id = useId();
  const asked = kind === "fresh_session" ? null : ASKED[kind];
  return (
    <form
      id={id}
      noValidate
      onSubmit={handleSubmit(({ proof }) => onProve(proof))}
      className="flex flex-col gap-5"
    >
      {children}
      {asked ? (
        <TextField
          label={asked.label}
          hint={asked.hint}
          type="password"
          autoComplete="current-password"
          error={formState.errors.proof}
          {...register("proof", { required: "Give one, so that this is you." })}
        />
      ) : (
        <p className="text-soft leading-6">
          This works within ten minutes after signing in. Later, sign out and in again first.
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
