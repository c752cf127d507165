"use client";

import { useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog } from "../../_ui/dialog/dialog";
import type { Fault } from "../../_ui/fault";
import { TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

type Props = { open: boolean; onClose: () => void; proof: SignInMethodsView["proof"] };

const toFault = (message: string): Fault => ({ message, code: null, requestId: null });

/** The message for a WebAuthn error of the browser. */
function toBrowserFault(error: unknown): Fault {
  const name = error instanceof Error ? error.name : "";
  if (name === "InvalidStateError") return toFault("This device already has a passkey for your account.");
  if (name === "NotAllowedError" || name === "AbortError")
    return toFault("No passkey was created. Try again, and confirm the browser prompt.");
  return toFault("This browser could not create a passkey.");
}

/** Adds a passkey: confirm the identity, create the passkey in the browser, then show new recovery codes if there are any. */
export function AddPasskey({ open, onClose, proof }: Props) {
  const trpc = useTRPC();
  const [name, setName] = useState("");
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [browserFault, setBrowserFault] = useState<Fault | null>(null);
  const [isPrompting, setPrompting] = useState(false);
  const adding = useAction(trpc.account.addPasskey.mutationOptions(), {
    done: "Passkey added",
    refresh: useAccountQueries(),
    onDone: ({ recoveryCodes }) => (recoveryCodes ? setCodes(recoveryCodes) : close()),
  });
  const starting = useAction(trpc.account.startPasskey.mutationOptions(), {
    onDone: async (optionsJSON) => {
      setPrompting(true);
      try {
        const { startRegistration } = await import("@simplewebauthn/browser");
        adding.run({ response: JSON.stringify(await startRegistration({ optionsJSON })), name });
      } catch (error) {
        setBrowserFault(toBrowserFault(error));
      } finally {
        setPrompting(false);
      }
    },
  });
  const close = () => {
    starting.reset();
    adding.reset();
    setBrowserFault(null);
    setCodes(null);
    setName("");
    onClose();
  };
  const [startFault, addFault] = [starting.fault, adding.fault];
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && close()}
      title={codes ? "Save your recovery codes" : "Add passkey"}
      isPersistent={codes !== null}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : (
        <ProofForm
          kind={proof}
          confirmLabel={isPrompting ? "Waiting for the browser…" : "Add passkey"}
          isBusy={starting.isBusy || adding.isBusy || isPrompting}
          fault={browserFault ?? startFault ?? addFault}
          onProve={(given) => {
            setBrowserFault(null);
            adding.reset();
            starting.run({ proof: given });
          }}
          onCancel={close}
        >
          <TextField
            label="Name"
            hint="For example “Phone” or “Blue key”. Leave empty to use the name of this browser."
            autoComplete="off"
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </ProofForm>
      )}
    </Dialog>
  );
}
