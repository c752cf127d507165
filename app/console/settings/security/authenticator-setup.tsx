"use client";

import { useState } from "react";
import { useForm } from "react-hook-form";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { lazyPart } from "../../_ui/page/lazy-part";
import { buttonStyle } from "../../_ui/styles";
import { CopyButton } from "../../_ui/text/copy-button";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

const QrCode = lazyPart(async () => (await import("./qr-code")).QrCode);

type Props = { open: boolean; onClose: () => void; proof: SignInMethodsView["proof"] };

/** Sets up an authenticator app in three steps: confirm the identity, scan the secret, save the recovery codes. */
export function AuthenticatorSetup({ open, onClose, proof }: Props) {
  const trpc = useTRPC();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const starting = useAction(trpc.account.startAuthenticator.mutationOptions());
  const confirming = useAction(trpc.account.confirmAuthenticator.mutationOptions(), {
    done: "Authenticator app added",
    refresh: useAccountQueries(),
    onDone: ({ recoveryCodes }) => (recoveryCodes ? setCodes(recoveryCodes) : close()),
  });
  const close = () => {
    starting.reset();
    confirming.reset();
    setCodes(null);
    onClose();
  };
  const setup = starting.result;
  const title = codes ? "Save your recovery codes" : "Set up authenticator app";
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && close()}
      title={title}
      isPersistent={codes !== null}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : setup ? (
        <SecretStep
          {...setup}
          isBusy={confirming.isBusy}
          fault={confirming.fault}
          onCode={(code) => confirming.run({ code })}
          onCancel={close}
        />
      ) : (
        <ProofForm
          kind={proof}
          confirmLabel="Continue"
          isBusy={starting.isBusy}
          fault={starting.fault}
          onProve={(given) => starting.run({ proof: given })}
          onCancel={close}
        >
          <p className="text-soft leading-6">
            You need an authenticator app or a password manager that generates codes. After setup, sign-in
            requires a code. All your other sessions are ended.
          </p>
        </ProofForm>
      )}
    </Dialog>
  );
}

type SecretStepProps = {
  secret: string;
  uri: string;
  isBusy: boolean;
  fault: ReturnType<typeof useAction>["fault"];
  onCode: (code: string) => void;
  onCancel: () => void;
};

function SecretStep({ secret, uri, isBusy, fault, onCode, onCancel }: SecretStepProps) {
  const { register, handleSubmit, formState } = useForm({ defaultValues: { code: "" } });
  return (
    <form noValidate onSubmit={handleSubmit(({ code }) => onCode(code))} className="flex flex-col gap-5">
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
      <FormFault fault={fault} />
      <DialogActions>
        <button type="button" onClick={onCancel} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={isBusy}>Turn on</SubmitButton>
      </DialogActions>
    </form>
  );
}
