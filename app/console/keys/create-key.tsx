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

type Props = {
  teamId: string;
  publicUrl: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** Creates a key, then shows its secret once. Closing the dialog discards the secret. */
export function CreateKey({ teamId, publicUrl, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const [created, setCreated] = useState<{ scopes: readonly string[]; senderDomain: string } | null>(null);
  const options = useQuery(trpc.keys.options.queryOptions({ team: teamId }, { enabled: open }));
  const creation = useAction(trpc.keys.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    creation.reset();
    setCreated(null);
  };
  const create = (fields: NewKeyFields) => {
    const input = newKeyInput(fields, Date.now());
    const [first] = input.domains === "all" ? [] : input.domains;
    const senderDomain = options.data?.domains.find(({ id }) => id === first)?.name;
    setCreated({ scopes: input.scopes, senderDomain: senderDomain ?? "backstamp.test" });
    creation.run({ team: teamId, ...input });
  };
  const { result, fault } = creation;

  if (result && created)
    return (
      <Dialog open={open} onOpenChange={close} title="New key" size="wide" isPersistent>
        <NewSecret token={result.token} publicUrl={publicUrl} use={created} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Create API key"
      description="Use one key for each program. You can then limit and revoke each one separately."
      size="wide"
    >
      {options.data ? (
        <CreateKeyForm
          options={options.data}
          isBusy={creation.isBusy}
          fault={fault}
          onCreate={create}
          onCancel={close}
        />
      ) : options.error ? (
        <FaultNote fault={faultOf(options.error)} onRetry={() => void options.refetch()} />
      ) : (
        <SkeletonCard lines={6} />
      )}
    </Dialog>
  );
}
