"use client";

import { useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import type { Fault } from "../../../_ui/fault";
import { TextField } from "../../../_ui/form/form";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { ProofDialog } from "../proof-dialog";
import { useAccountQueries } from "../use-account-queries";

type Props = { proof: SignInMethodsView["proof"]; onClose: () => void };

/** The message for a WebAuthn error of the browser. */
function toBrowserFault(error: unknown): Fault {
  const name = error instanceof Error ? error.name : "";
  const fault = { code: null, requestId: null };
  if (name === "InvalidStateError")
    return { ...fault, message: "This device already has a passkey for your account." };
  if (name === "NotAllowedError" || name === "AbortError")
    return { ...fault, message: "No passkey was created. Try again, and confirm the browser prompt." };
  return { ...fault, message: "This browser could not create a passkey." };
}

/** Adds a passkey: confirm the identity, create the passkey in the browser, then show new recovery codes if there are any. */
export function AddPasskey({ proof, onClose }: Props) {
  const trpc = useTRPC();
  const [name, setName] = useState("");
  const [browserFault, setBrowserFault] = useState<Fault | null>(null);
  const [isPrompting, setPrompting] = useState(false);
  const adding = useAction(trpc.account.addPasskey.mutationOptions({ gcTime: 0 }), {
    done: "Passkey added",
    refresh: useAccountQueries(),
    onDone: ({ recoveryCodes }) => recoveryCodes === null && onClose(),
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
  const [startFault, addFault] = [starting.fault, adding.fault];
  return (
    <ProofDialog
      title="Add passkey"
      proof={proof}
      submitLabel={isPrompting ? "Waiting for the browser…" : "Add passkey"}
      action={{
        isBusy: starting.isBusy || adding.isBusy || isPrompting,
        fault: browserFault ?? startFault ?? addFault,
      }}
      onProof={(given) => {
        setBrowserFault(null);
        adding.reset();
        starting.run({ proof: given });
      }}
      onClose={onClose}
      codes={adding.result?.recoveryCodes}
    >
      <TextField
        label="Name"
        hint="For example “Phone” or “Blue key”. Leave empty to use the name of this browser."
        autoComplete="off"
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </ProofDialog>
  );
}
