"use client";

import { useForm } from "react-hook-form";
import type { PasskeyResponse } from "#server/shared/wire/people/passkey";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog } from "../../../_ui/dialog/dialog";
import { ActionForm } from "../../../_ui/form/action-form";
import { TextField } from "../../../_ui/form/form";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { ProofDialog } from "../proof-dialog";
import { useAccountQueries } from "../use-account-queries";

type Props = { passkey: PasskeyResponse; onClose: () => void };

/** Renames a passkey. */
export function RenamePasskey({ passkey, onClose }: Props) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ defaultValues: { name: passkey.name } });
  const renaming = useAction(trpc.account.renamePasskey.mutationOptions(), {
    done: "Passkey renamed",
    refresh: [trpc.account.signInMethods.queryKey()],
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title="Rename passkey">
      <ActionForm
        onSubmit={handleSubmit(({ name }) => renaming.run({ id: passkey.id, name }))}
        action={renaming}
        submitLabel="Rename"
        onCancel={onClose}
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
      </ActionForm>
    </Dialog>
  );
}

/** Removes a passkey. The dialog explains how sign-in changes. */
export function RemovePasskey({ passkey, methods, onClose }: Props & { methods: SignInMethodsView }) {
  const trpc = useTRPC();
  const removal = useAction(trpc.account.removePasskey.mutationOptions(), {
    done: "Passkey removed",
    refresh: useAccountQueries(),
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
