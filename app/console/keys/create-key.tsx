"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../_ui/dialog/dialog";
import { faultOf } from "../_ui/fault";
import { SkeletonCard } from "../_ui/list/skeleton";
import { FaultNote } from "../_ui/text/notes";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { CreateKeyForm } from "./create-key-form";
import { type NewKeyFields, newKeyInput } from "./new-key";
import { NewSecret } from "./new-secret";

type Props = { teamId: string; publicUrl: string; onClose: () => void };

/** Creates a key, then shows its secret once. Closing the dialog discards the secret. */
export function CreateKey({ teamId, publicUrl, onClose }: Props) {
  const trpc = useTRPC();
  const [created, setCreated] = useState<{ scopes: readonly string[]; domains: { name: string }[] } | null>(
    null,
  );
  const options = useQuery(trpc.keys.options.queryOptions({ team: teamId }));
  const action = useAction(trpc.keys.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.list.queryKey()],
  });
  const create = (fields: NewKeyFields) => {
    const input = newKeyInput(fields, Date.now());
    const domains =
      options.data?.domains.filter(({ id }) => input.domains !== "all" && input.domains.includes(id)) ?? [];
    setCreated({ scopes: input.scopes, domains });
    action.run({ team: teamId, ...input });
  };

  if (action.result && created)
    return (
      <Dialog open onOpenChange={onClose} title="New key" size="wide" isPersistent>
        <NewSecret token={action.result.token} publicUrl={publicUrl} of={created} onStored={onClose} />
      </Dialog>
    );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create API key"
      description="Use one key for each program. You can then limit and revoke each one separately."
      size="wide"
    >
      {options.data ? (
        <CreateKeyForm domains={options.data.domains} action={action} onCreate={create} onCancel={onClose} />
      ) : options.error ? (
        <FaultNote fault={faultOf(options.error)} onRetry={() => void options.refetch()} />
      ) : (
        <SkeletonCard lines={6} />
      )}
    </Dialog>
  );
}
