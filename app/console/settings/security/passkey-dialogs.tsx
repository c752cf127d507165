"use client";

import { useState } from "react";
import type { PasskeyView } from "#server/shared/wire/people/account";
import type { SignInMethodsView } from "#server/trpc/account/account";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import type { Fault } from "../../_ui/fault";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ProofDialog } from "./proof-dialog";
import { useAccountAction } from "./use-account-action";

export type OpenedPasskey = { kind: "add" } | { kind: "rename" | "remove"; passkey: PasskeyView };

type Props = { methods: SignInMethodsView; onClose: () => void };
type PasskeyProps = Props & { passkey: PasskeyView };

/** Adds, renames or removes a passkey. */
export function PasskeyDialog({ opened, ...props }: Props & { opened: OpenedPasskey }) {
  if (opened.kind === "add") return <AddPasskey {...props} />;
  if (opened.kind === "rename") return <RenamePasskey {...props} passkey={opened.passkey} />;
  return <RemovePasskey {...props} passkey={opened.passkey} />;
}

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

/**
 * Adds a passkey: confirm the identity, create the passkey in the browser, then show new recovery codes if
 * there are any.
 */
function AddPasskey({ methods, onClose }: Props) {
  const trpc = useTRPC();
  const [name, setName] = useState("");
  const [browserFault, setBrowserFault] = useState<Fault | null>(null);
  const [isPrompting, setPrompting] = useState(false);
  const adding = useAccountAction(trpc.account.addPasskey.mutationOptions({ gcTime: 0 }), {
    done: "Passkey added",
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
  // Both are read, so that no toast shows one of them.
  const [startFault, addFault] = [starting.fault, adding.fault];
  return (
    <ProofDialog
      title="Add passkey"
      proof={methods.proof}
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

function RenamePasskey({ passkey, onClose }: PasskeyProps) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({ defaultValues: { name: passkey.name } });
  const renaming = useAction(trpc.account.renamePasskey.mutationOptions(), {
    done: "Passkey renamed",
    refresh: [trpc.account.signInMethods.queryKey()],
    onDone: onClose,
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Rename passkey"
      onSubmit={handleSubmit(({ name }) => renaming.run({ id: passkey.id, name }))}
      action={renaming}
      submitLabel="Rename"
    >
      <TextField
        label="Name"
        autoComplete="off"
        {...field("name", {
          validate: (name) => name.trim() !== "" || "Enter a name.",
          maxLength: { value: 60, message: "Enter a name of at most 60 characters." },
        })}
      />
    </FormDialog>
  );
}

/** Removes a passkey. The dialog explains how sign-in changes. */
function RemovePasskey({ passkey, methods, onClose }: PasskeyProps) {
  const trpc = useTRPC();
  const removal = useAccountAction(trpc.account.removePasskey.mutationOptions(), {
    done: "Passkey removed",
    onDone: onClose,
  });
  const isLast = methods.passkeys.length === 1 && !methods.hasAuthenticator;
  return (
    <ProofDialog
      title={`Remove ${passkey.name}?`}
      proof={methods.proof}
      submitLabel="Remove"
      tone="danger"
      action={removal}
      onProof={(proof) => removal.run({ id: passkey.id, proof })}
      onClose={onClose}
    >
      <p className="text-soft leading-6">
        You can no longer sign in with it. Delete it on your device too, because the device may still offer
        it.
      </p>
      {isLast ? (
        <p className="text-soft leading-6">
          This turns off two-factor authentication. Your password or an emailed link is then enough to sign
          in.
        </p>
      ) : null}
    </ProofDialog>
  );
}
