"use client";

import { useForm } from "react-hook-form";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ProofDialog } from "./proof-dialog";
import { useAccountQueries } from "./use-account-queries";

type Passkey = SignInMethodsView["passkeys"][number];
type Props = { open: boolean; onClose: () => void; passkey: Passkey | undefined };

/** Renames a passkey. */
export function RenamePasskey({ open, onClose, passkey }: Props) {
  return (
    <Dialog open={open} onOpenChange={(isOpen) => !isOpen && onClose()} title="Rename passkey">
      {passkey ? <NameForm passkey={passkey} onClose={onClose} /> : null}
    </Dialog>
  );
}

function NameForm({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ defaultValues: { name: passkey.name } });
  const renaming = useAction(trpc.account.renamePasskey.mutationOptions(), {
    done: "Passkey renamed",
    refresh: [trpc.account.signInMethods.queryKey()],
    onDone: onClose,
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit(({ name }) => renaming.run({ id: passkey.id, name }))}
      className="flex flex-col gap-5"
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={formState.errors.name}
        {...register("name", {
          validate: (name) => name.trim() !== "" || "Enter a name.",
          maxLength: { value: 60, message: "Enter a name of at most 60 characters." },
        })}
      />
      <FormFault fault={renaming.fault} />
      <DialogActions>
        <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={renaming.isBusy}>Rename</SubmitButton>
      </DialogActions>
    </form>
  );
}

/** Removes a passkey. The dialog explains how sign-in changes. */
export function RemovePasskey({ open, onClose, passkey, methods }: Props & { methods: SignInMethodsView }) {
  const trpc = useTRPC();
  const removing = useAction(trpc.account.removePasskey.mutationOptions(), {
    done: "Passkey removed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  const isLast = methods.passkeys.length === 1 && !methods.hasAuthenticator;
  return (
    <ProofDialog
      open={open && passkey !== undefined}
      onClose={() => {
        removing.reset();
        onClose();
      }}
      title={`Remove ${passkey?.name ?? "the passkey"}?`}
      kind={methods.proof}
      confirmLabel="Remove"
      isBusy={removing.isBusy}
      fault={removing.fault}
      onProve={(proof) => passkey && removing.run({ id: passkey.id, proof })}
    >
      <p>
        You can no longer sign in with it. Delete it on your device too, because the device may still offer
        it.
      </p>
      {isLast ? (
        <p>
          This turns off two-factor authentication. Your password or an emailed link is then enough to sign
          in.
        </p>
      ) : null}
    </ProofDialog>
  );
}
