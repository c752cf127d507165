"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../_ui/dialog";
import { faultOf } from "../_ui/fault";
import { FaultNote } from "../_ui/notes";
import { SkeletonCard } from "../_ui/skeleton";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import { CreateKeyForm } from "./create-key-form";
import { type NewKeyFields, newKeyInput } from "./new-key";
import { NewSecret } from "./new-secret";

type Props = {
  teamId: string;
  publicUrl: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** Makes a key: first what it may do, then its secret, this once. Nothing of the secret stays when it is closed. */
export function CreateKey({ teamId, publicUrl, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const [made, setMade] = useState<{ scopes: readonly string[]; senderDomain: string } | null>(null);
  const options = useQuery(trpc.keys.options.queryOptions({ team: teamId }, { enabled: open }));
  const creation = useAct(trpc.keys.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    creation.reset();
    setMade(null);
  };
  const create = (fields: NewKeyFields) => {
    const input = newKeyInput(fields, Date.now());
    const [first] = input.domains === "all" ? [] : input.domains;
    const named = options.data?.domains.find(({ id }) => id === first)?.name;
    setMade({ scopes: input.scopes, senderDomain: named ?? "posthorn.test" });
    creation.act({ team: teamId, ...input });
  };
  const { result, fault } = creation;

  if (result && made)
    return (
      <Dialog open={open} onOpenChange={close} title="Your new key" size="wide" isKept>
        <NewSecret token={result.token} publicUrl={publicUrl} use={made} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Create an API key"
      description="One key for each program: then each can be limited, and ended, by itself."
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
