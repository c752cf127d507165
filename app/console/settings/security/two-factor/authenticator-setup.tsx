"use client";

import { useForm } from "react-hook-form";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { ActionForm } from "../../../_ui/form/action-form";
import { TextField } from "../../../_ui/form/form";
import { lazyPart } from "../../../_ui/page/lazy-part";
import { CopyButton } from "../../../_ui/text/copy-button";
import { useTRPC } from "../../../_ui/trpc";
import { type ActionState, useAction } from "../../../_ui/use-action";
import { ProofDialog } from "../proof-dialog";
import { useAccountQueries } from "../use-account-queries";

const QrCode = lazyPart(async () => (await import("./qr-code")).QrCode);

type Props = { proof: SignInMethodsView["proof"]; onClose: () => void };

/** Sets up an authenticator app in three steps: confirm the identity, scan the secret, save the recovery codes. */
export function AuthenticatorSetup({ proof, onClose }: Props) {
  const trpc = useTRPC();
  const starting = useAction(trpc.account.startAuthenticator.mutationOptions({ gcTime: 0 }));
  const confirming = useAction(trpc.account.confirmAuthenticator.mutationOptions({ gcTime: 0 }), {
    done: "Authenticator app added",
    refresh: useAccountQueries(),
    onDone: ({ recoveryCodes }) => recoveryCodes === null && onClose(),
  });
  const secretStep = starting.result && (
    <SecretStep
      {...starting.result}
      action={confirming}
      onCode={(code) => confirming.run({ code })}
      onCancel={onClose}
    />
  );
  return (
    <ProofDialog
      title="Set up authenticator app"
      proof={proof}
      submitLabel="Continue"
      action={starting}
      onProof={(given) => starting.run({ proof: given })}
      onClose={onClose}
      nextStep={secretStep}
      codes={confirming.result?.recoveryCodes}
    >
      <p className="text-soft leading-6">
        You need an authenticator app or a password manager that generates codes. After setup, sign-in
        requires a code. All your other sessions are ended.
      </p>
    </ProofDialog>
  );
}

type SecretStepProps = {
  secret: string;
  uri: string;
  action: ActionState;
  onCode: (code: string) => void;
  onCancel: () => void;
};

function SecretStep({ secret, uri, action, onCode, onCancel }: SecretStepProps) {
  const { register, handleSubmit, formState } = useForm({ defaultValues: { code: "" } });
  return (
    <ActionForm
      onSubmit={handleSubmit(({ code }) => onCode(code))}
      action={action}
      submitLabel="Turn on"
      onCancel={onCancel}
    >
      <p className="text-soft leading-6">Scan this QR code with the app, or enter the key.</p>
      <div className="flex flex-wrap items-start gap-5">
        <div className="size-52">
          <QrCode text={uri} label="QR code of the key" />
        </div>
        <div className="min-w-0 grow basis-40">
          <p className="font-medium">Key</p>
          <div className="mt-1 flex items-start gap-1">
            <code className="min-w-0 grow select-all break-words font-mono text-xs leading-5">
              {secret.replace(/(.{4})(?=.)/g, "$1 ")}
            </code>
            <CopyButton text={secret} label="Copy key" />
          </div>
          <p className="mt-2 text-soft text-xs leading-5">Time-based (TOTP), 6 digits, SHA-1, 30 seconds.</p>
        </div>
      </div>
      <TextField
        label="Code"
        hint="The current code of the app."
        isMono
        autoFocus
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={12}
        error={formState.errors.code}
        {...register("code", {
          required: "Enter the code from the app.",
          pattern: { value: /^\s*(\d\s*){6}$/, message: "Enter six digits." },
        })}
      />
    </ActionForm>
  );
}
