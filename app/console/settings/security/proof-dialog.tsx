"use client";

import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import type { ActionState } from "../../_ui/use-action";
import { RecoveryCodes } from "./two-factor/recovery-codes";

type ProofKind = SignInMethodsView["proof"];

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

type FormProps = {
  /** The proof that the user can give. */
  proof: ProofKind;
  submitLabel: string;
  tone?: "primary" | "danger";
  action: ActionState;
  onProof: (proof: string) => void;
  onClose: () => void;
  /** The consequences, and further fields. */
  children: ReactNode;
};

type Props = FormProps & {
  title: string;
  /** Replaces the form after the proof was accepted. */
  nextStep?: ReactNode;
  /** New recovery codes, the last step. */
  codes?: readonly string[] | null | undefined;
};

/** Requires the user to confirm their identity before a sign-in protection changes, then shows new recovery codes if any. */
export function ProofDialog({ title, codes, nextStep, ...form }: Props) {
  return (
    <Dialog
      open
      onOpenChange={form.onClose}
      title={codes ? "Save your recovery codes" : title}
      isPersistent={Boolean(codes)}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={form.onClose} />
      ) : (
        (nextStep ?? <ProofForm {...form} />)
      )}
    </Dialog>
  );
}

function ProofForm({ proof, onProof, onClose, children, ...form }: FormProps) {
  const { register, handleSubmit, formState } = useForm({ defaultValues: { proof: "" } });
  return (
    <ActionForm onSubmit={handleSubmit((fields) => onProof(fields.proof))} onCancel={onClose} {...form}>
      {children}
      {proof === "fresh_session" ? (
        <p className="text-soft leading-6">
          This is possible within ten minutes after sign-in. Later, sign out and sign in again first.
        </p>
      ) : (
        <TextField
          {...PROOF_FIELDS[proof]}
          type="password"
          autoComplete="current-password"
          error={formState.errors.proof}
          {...register("proof", { required: "Enter it to confirm your identity." })}
        />
      )}
    </ActionForm>
  );
}
