"use client";

import { encode } from "uqr";
import type { SignInMethodsView } from "#server/trpc/account/account";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { CopyButton } from "../../_ui/text/copy-button";
import { useTRPC } from "../../_ui/trpc";
import { type ActionState, useAction } from "../../_ui/use-action";
import { ProofDialog } from "./proof-dialog";
import { useAccountAction } from "./use-account-action";

type Props = { methods: SignInMethodsView; onClose: () => void };

/** Sets up or removes the authenticator app, or creates new recovery codes. */
export function TwoFactorDialog({ kind, ...props }: Props & { kind: "setup" | "remove" | "renew" }) {
  if (kind === "setup") return <AuthenticatorSetup {...props} />;
  return kind === "remove" ? <RemoveAuthenticator {...props} /> : <RenewCodes {...props} />;
}

/**
 * Sets up an authenticator app in three steps: confirm the identity, scan the secret, save the recovery
 * codes.
 */
function AuthenticatorSetup({ methods, onClose }: Props) {
  const trpc = useTRPC();
  const starting = useAction(trpc.account.startAuthenticator.mutationOptions({ gcTime: 0 }));
  const confirming = useAccountAction(trpc.account.confirmAuthenticator.mutationOptions({ gcTime: 0 }), {
    done: "Authenticator app added",
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
      proof={methods.proof}
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
  const { field, handleSubmit } = useFields({ defaultValues: { code: "" } });
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
        hint="The current 6-digit code from the app."
        isMono
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={12}
        {...field("code", {
          required: "Enter the code from the app.",
          pattern: { value: /^\s*(\d\s*){6}$/, message: "Enter six digits." },
        })}
      />
    </ActionForm>
  );
}

/** A QR code, black on white in both themes, because cameras do not read other colors reliably. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "L", border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className="size-52 rounded-lg border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function RemoveAuthenticator({ methods, onClose }: Props) {
  const trpc = useTRPC();
  const removal = useAccountAction(trpc.account.removeAuthenticator.mutationOptions(), {
    done: "Authenticator app removed",
    onDone: onClose,
  });
  return (
    <ProofDialog
      title="Remove authenticator app?"
      proof={methods.proof}
      submitLabel="Remove"
      tone="danger"
      action={removal}
      onProof={(proof) => removal.run({ proof })}
      onClose={onClose}
    >
      <p className="text-soft leading-6">
        {methods.passkeys.length > 0
          ? "Sign-in with a password then requires a passkey or a recovery code."
          : "This turns off two-factor authentication. Your password or an emailed link is then enough to sign in. The recovery codes are deleted."}
      </p>
    </ProofDialog>
  );
}

function RenewCodes({ methods, onClose }: Props) {
  const trpc = useTRPC();
  const renewal = useAccountAction(trpc.account.renewRecoveryCodes.mutationOptions({ gcTime: 0 }));
  return (
    <ProofDialog
      title="Create new recovery codes?"
      proof={methods.proof}
      submitLabel="Create new codes"
      action={renewal}
      onProof={(given) => renewal.run({ proof: given })}
      onClose={onClose}
      codes={renewal.result?.recoveryCodes}
    >
      <p className="text-soft leading-6">All previous codes become invalid.</p>
    </ProofDialog>
  );
}
