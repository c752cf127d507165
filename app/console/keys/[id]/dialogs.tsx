"use client";

import { useQuery } from "@tanstack/react-query";
import type { KeyView } from "#server/trpc/keys/keys";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { RadioCards, TextAreaField, TextField } from "../../_ui/form/form";
import { filled, useFields } from "../../_ui/form/use-fields";
import { formatCount } from "../../_ui/format-number";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { NETWORKS_EXAMPLE, NETWORKS_HINT } from "../labels";
import { NewSecret, networksOf } from "../new-key";

/** The props of each dialog of the page. */
export type KeyDialogProps = { teamId: string; keyView: KeyView; publicUrl: string; onClose: () => void };

const useRefresh = () => {
  const trpc = useTRPC();
  return [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()];
};

/** Renames a key. */
export function RenameKey({ teamId, keyView, onClose }: KeyDialogProps) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({ defaultValues: { name: keyView.name } });
  const action = useAction(trpc.keys.rename.mutationOptions(), {
    done: "Key renamed",
    refresh: useRefresh(),
    onDone: onClose,
  });
  const rename = handleSubmit(({ name }) => action.run({ team: teamId, id: keyView.id, name }));
  return (
    <FormDialog onClose={onClose} title="Rename key" onSubmit={rename} action={action} submitLabel="Rename">
      <TextField label="Name" maxLength={50} autoComplete="off" {...field("name", filled("Enter a name."))} />
    </FormDialog>
  );
}

/** Changes the networks from which a key may be used. */
export function ChangeNetworks({ teamId, keyView, onClose }: KeyDialogProps) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({
    defaultValues: { networks: keyView.client_networks.join("\n") },
  });
  const action = useAction(trpc.keys.setNetworks.mutationOptions(), {
    done: "Client networks changed",
    refresh: useRefresh(),
    onDone: onClose,
  });
  const change = handleSubmit(({ networks }) =>
    action.run({ team: teamId, id: keyView.id, clientNetworks: networksOf(networks) }),
  );
  return (
    <FormDialog
      onClose={onClose}
      title="Client networks"
      description="Takes effect immediately, for the REST API and for SMTP."
      onSubmit={change}
      action={action}
      submitLabel="Save changes"
    >
      <TextAreaField
        label="Client networks"
        hint={NETWORKS_HINT}
        placeholder={NETWORKS_EXAMPLE}
        isMono
        autoComplete="off"
        spellCheck={false}
        {...field("networks")}
      />
    </FormDialog>
  );
}

const OVERLAPS = [
  { value: "3600", label: "1 hour", hint: "For a program that you reconfigure now." },
  { value: "86400", label: "1 day", hint: "Enough for a deployment." },
  { value: "604800", label: "1 week", hint: "The maximum. For programs that other people operate." },
  { value: "0", label: "Expires now", hint: "The old key is rejected immediately. For a leaked key." },
];

/** Replaces a key. Both keys are valid for the chosen time. The new secret is shown once. */
export function RotateKey({ teamId, keyView, publicUrl, onClose }: KeyDialogProps) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({ defaultValues: { overlap: "86400" } });
  const action = useAction(trpc.keys.rotate.mutationOptions({ gcTime: 0 }), {
    refresh: useRefresh(),
  });
  const rotate = handleSubmit(({ overlap }) =>
    action.run({ team: teamId, id: keyView.id, overlapSeconds: Number(overlap) }),
  );
  const { result } = action;
  if (result)
    return (
      <Dialog
        onOpenChange={onClose}
        title="New key"
        description={
          <>
            The old key expires <When isDue at={result.previousUntil} />.
          </>
        }
        size="wide"
        isPersistent
      >
        <NewSecret token={result.token} publicUrl={publicUrl} of={keyView} onStored={onClose} />
      </Dialog>
    );
  return (
    <FormDialog
      onClose={onClose}
      title={`Rotate key ${keyView.name}`}
      description="The new key has the same name, permissions, domains and limits."
      onSubmit={rotate}
      action={action}
      submitLabel="Rotate key"
    >
      <RadioCards label="Validity of the old key" options={OVERLAPS} {...field("overlap")} />
    </FormDialog>
  );
}

/** Revokes a key. The confirmation shows its last use and its requests of today. */
export function RevokeKey({ teamId, keyView, onClose }: KeyDialogProps) {
  const trpc = useTRPC();
  const { data: usage } = useQuery(
    trpc.keys.use.queryOptions({ team: teamId, id: keyView.id }, { staleTime: 0 }),
  );
  const action = useAction(trpc.keys.revoke.mutationOptions(), {
    done: "Key revoked",
    refresh: useRefresh(),
    onDone: onClose,
  });
  const lastUsedAt = usage?.lastUsedAt ?? keyView.last_used_at;
  return (
    <Confirm
      onOpenChange={onClose}
      title={`Revoke key ${keyView.name}?`}
      confirmLabel="Revoke key"
      action={action}
      onConfirm={() => action.run({ team: teamId, id: keyView.id })}
    >
      <p>
        Requests with this key are rejected immediately. This cannot be undone. Email that it has sent or
        queued is not affected.
      </p>
      <p className="text-ink">
        {lastUsedAt ? (
          <>
            Last used <When at={lastUsedAt} />
            {usage ? `. ${formatRequests(usage)} today.` : "."}
          </>
        ) : (
          "Never used."
        )}
      </p>
    </Confirm>
  );
}

const formatRequests = ({ calls, isAtLeast }: { calls: number; isAtLeast: boolean }): string =>
  `${isAtLeast ? "At least " : ""}${formatCount(calls, "request")}`;
