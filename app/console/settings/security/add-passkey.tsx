"use client";

import { useState } from "react";
import type { LocksView } from "#server/trpc/account-views";
import { Dialog } from "../../_ui/dialog";
import type { Fault } from "../../_ui/fault";
import { TextField } from "../../_ui/form";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

type Props = { open: boolean; onClose: () => void; proof: LocksView["proof"] };

const own = (message: string): Fault => ({ message, code: null, requestId: null });

/** What the browser said instead of making a passkey, in words. */
function sayBrowserFault(error: unknown): Fault {
  const name = error instanceof Error ? error.name : "";
  if (name === "InvalidStateError") return own("This device holds a passkey of yours already.");
  if (name === "NotAllowedError" || name === "AbortError")
    return own("No passkey was made. Try again, and answer what the browser asks.");
  return own("This browser could not make a passkey.");
}

/** Makes a passkey: prove it is you, answer the browser, and keep the recovery codes where it is the first factor. */
export function AddPasskey({ open, onClose, proof }: Props) {
  const trpc = useTRPC();
  const [name, setName] = useState("");
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [browserFault, setBrowserFault] = useState<Fault | null>(null);
  const [isAsking, setAsking] = useState(false);
  const adding = useAct(trpc.account.addPasskey.mutationOptions(), {
    done: "Passkey added",
    refresh: useAccountQueries(),
    onDone: ({ recoveryCodes }) => (recoveryCodes ? setCodes(recoveryCodes) : close()),
  });
  const starting = useAct(trpc.account.startPasskey.mutationOptions(), {
    onDone: async (optionsJSON) => {
      setAsking(true);
      try {
        const { startRegistration } = await import("@simplewebauthn/browser");
        adding.act({ response: JSON.stringify(await startRegistration({ optionsJSON })), name });
      } catch (error) {
        setBrowserFault(sayBrowserFault(error));
      } finally {
        setAsking(false);
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
      title={codes ? "Keep your recovery codes" : "Add a passkey"}
      isKept={codes !== null}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : (
        <ProofForm
          kind={proof}
          confirmLabel={isAsking ? "Waiting for the browser…" : "Add a passkey"}
          isBusy={starting.isBusy || adding.isBusy || isAsking}
          fault={browserFault ?? startFault ?? addFault}
          onProve={(given) => {
            setBrowserFault(null);
            adding.reset();
            starting.act({ proof: given });
          }}
          onCancel={close}
        >
          <TextField
            label="Name"
            hint="So that you know it again: “Phone”, “Blue key”. Empty for the name of this browser."
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
