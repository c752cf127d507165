"use client";

import { Download, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { SignInMethodsView } from "#server/trpc/account/account";
import { Dialog } from "../../_ui/dialog/dialog";
import { DialogActions } from "../../_ui/dialog/dialog-actions";
import { useConfirmLeave } from "../../_ui/dialog/secret-once";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { download } from "../../_ui/form/download";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { CopyButton } from "../../_ui/text/copy-button";
import { Note } from "../../_ui/text/notes";
import type { ActionState } from "../../_ui/use-action";

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

/**
 * Requires the user to confirm their identity before a sign-in protection changes, then shows new recovery
 * codes if any.
 */
export function ProofDialog({ title, codes, nextStep, ...form }: Props) {
  return (
    <Dialog
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
  const { field, handleSubmit } = useFields({ defaultValues: { proof: "" } });
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
          {...field("proof", { required: "Enter it to confirm your identity." })}
        />
      )}
    </ActionForm>
  );
}

const fileText = (codes: readonly string[]) =>
  `Backstamp recovery codes for ${window.location.host}\nEach code can be used once.\n\n${codes.join("\n")}\n`;

/** Recovery codes, shown once. The browser asks for confirmation if the user leaves the page. */
function RecoveryCodes({ codes, onStored }: { codes: readonly string[]; onStored: () => void }) {
  useConfirmLeave();
  const save = () =>
    download(new Blob([fileText(codes)], { type: "text/plain" }), "backstamp-recovery-codes.txt");
  return (
    <div className="flex flex-col gap-4">
      <Note Icon={TriangleAlert}>
        These codes are shown only once. If you lose your phone or passkey, sign in with one of them. Each
        code works once.
      </Note>
      <div className="relative rounded-lg border border-line bg-sunk p-4 pr-12">
        <ol aria-label="Recovery codes" className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code} className="select-all font-mono text-xs leading-5">
              {code}
            </li>
          ))}
        </ol>
        <span className="absolute top-2 right-2">
          <CopyButton text={codes.join("\n")} label="Copy recovery codes" />
        </span>
      </div>
      <DialogActions>
        <Button Icon={Download} onClick={save}>
          Download
        </Button>
        <Button tone="primary" onClick={onStored}>
          I saved my codes
        </Button>
      </DialogActions>
    </div>
  );
}
