"use client";

import { useState } from "react";
import { useForm } from "react-hook-form";
import type { LocksView } from "#server/trpc/account-views";
import { CopyButton } from "../../_ui/copy-button";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { lazyPart } from "../../_ui/lazy-part";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

const QrCode = lazyPart(async () => (await import("./qr-code")).QrCode);

type Props = { open: boolean; onClose: () => void; proof: LocksView["proof"] };

/** Sets up an authenticator app in three steps: prove it is you, show the app the secret, keep the recovery codes. */
export function AuthenticatorSetup({ open, onClose, proof }: Props) {
  const trpc = useTRPC();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const starting = useAct(trpc.account.startAuthenticator.mutationOptions());
  const confirming = useAct(trpc.account.confirmAuthenticator.mutationOptions(), {
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
  const begun = starting.result;
  const title = codes ? "Keep your recovery codes" : "Set up an authenticator app";
  return (
    <Dialog open={open} onOpenChange={(isOpen) => !isOpen && close()} title={title} isKept={codes !== null}>
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : begun ? (
        <SecretStep
          {...begun}
          isBusy={confirming.isBusy}
          fault={confirming.fault}
          onCode={(code) => confirming.act({ code })}
          onCancel={close}
        />
      ) : (
        <ProofForm
          kind={proof}
          confirmLabel="Go on"
          isBusy={starting.isBusy}
          fault={starting.fault}
          onProve={(given) => starting.act({ proof: given })}
          onCancel={close}
        >
          <p className="text-soft leading-6">
            You need an app that shows codes, such as one of those that keep passwords. From then on, signing
            in asks for such a code too, and your other sessions end.
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
  fault: ReturnType<typeof useAct>["fault"];
  onCode: (code: string) => void;
  onCancel: () => void;
};

function SecretStep({ secret, uri, isBusy, fault, onCode, onCancel }: SecretStepProps) {
  const { register, handleSubmit, formState } = useForm({ defaultValues: { code: "" } });
  return (
    <form noValidate onSubmit={handleSubmit(({ code }) => onCode(code))} className="flex flex-col gap-5">
      <p className="text-soft leading-6">Let the app scan this, or type the key into it.</p>
      <div className="flex flex-wrap items-start gap-5">
        <div className="size-52">
          <QrCode text={uri} label="The key as a QR code" />
        </div>
        <div className="min-w-0 grow basis-40">
          <p className="font-medium">Key</p>
          <div className="mt-1 flex items-start gap-1">
            <code className="min-w-0 grow select-all break-words font-mono text-xs leading-5">
              {secret.replace(/(.{4})(?=.)/g, "$1 ")}
            </code>
            <CopyButton text={secret} label="Copy the key" />
          </div>
          <p className="mt-2 text-soft text-xs leading-5">
            Based on time, six digits, SHA-1, every 30 seconds.
          </p>
        </div>
      </div>
      <TextField
        label="Code"
        hint="What the app shows now."
        isMono
        autoFocus
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={12}
        error={formState.errors.code}
        {...register("code", {
          required: "Type the code that the app shows.",
          pattern: { value: /^\s*(\d\s*){6}$/, message: "It has six digits." },
        })}
      />
      <FormFault fault={fault} />
      <DialogActions>
        <button type="button" onClick={onCancel} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={isBusy}>Turn it on</SubmitButton>
      </DialogActions>
    </form>
  );
}
