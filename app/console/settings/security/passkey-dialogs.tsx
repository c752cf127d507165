"use client";

import { useForm } from "react-hook-form";
import type { LocksView } from "#server/trpc/account-views";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { ProofDialog } from "./proof-dialog";
import { useAccountQueries } from "./use-account-queries";

type Passkey = LocksView["passkeys"][number];
type Props = { open: boolean; onClose: () => void; passkey: Passkey | undefined };

/** Calls a passkey something else. */
export function RenamePasskey({ open, onClose, passkey }: Props) {
  return (
    <Dialog open={open} onOpenChange={(isOpen) => !isOpen && onClose()} title="Rename the passkey">
      {passkey ? <NameForm passkey={passkey} onClose={onClose} /> : null}
    </Dialog>
  );
}

function NameForm({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ defaultValues: { name: passkey.name } });
  const renaming = useAct(trpc.account.renamePasskey.mutationOptions(), {
    done: "Passkey renamed",
    refresh: [trpc.account.locks.queryKey()],
    onDone: onClose,
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit(({ name }) => renaming.act({ id: passkey.id, name }))}
      className="flex flex-col gap-5"
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={formState.errors.name}
        {...register("name", {
          validate: (name) => name.trim() !== "" || "Give it a name.",
          maxLength: { value: 60, message: "Give a name of at most 60 characters." },
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

/** Takes a passkey away, and says what signing in will be like then. */
export function RemovePasskey({ open, onClose, passkey, locks }: Props & { locks: LocksView }) {
  const trpc = useTRPC();
  const removing = useAct(trpc.account.removePasskey.mutationOptions(), {
    done: "Passkey removed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  const isLast = locks.passkeys.length === 1 && !locks.hasAuthenticator;
  return (
    <ProofDialog
      open={open && passkey !== undefined}
      onClose={() => {
        removing.reset();
        onClose();
      }}
      title={`Remove ${passkey?.name ?? "the passkey"}?`}
      kind={locks.proof}
      confirmLabel="Remove it"
      isBusy={removing.isBusy}
      fault={removing.fault}
      onProve={(proof) => passkey && removing.act({ id: passkey.id, proof })}
    >
      <p>It opens nothing here from then on. The device may still show it; delete it there, too.</p>
      {isLast ? (
        <p>
          It is your only second step: your password or a mailed link alone will let anybody in who has it.
        </p>
      ) : null}
    </ProofDialog>
  );
}
