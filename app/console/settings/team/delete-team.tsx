"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import type { ActionState } from "../../_ui/use-action";
import { ProofDialog } from "../security/proof-dialog";

type Props = {
  name: string;
  action: ActionState;
  onConfirm: (given: { confirm: string; proof: string }) => void;
  onClose: () => void;
};

/** Asks for the name of the team, and the user's password or a code, before its deletion is requested. */
export function DeleteTeam({ name, action, onConfirm, onClose }: Props) {
  const trpc = useTRPC();
  const { data: methods } = useQuery(trpc.account.signInMethods.queryOptions());
  const [typed, setTyped] = useState("");
  if (!methods) return null;
  return (
    <ProofDialog
      title={`Delete the team ${name}?`}
      proof={methods.proof}
      submitLabel="Delete team"
      tone="danger"
      action={action}
      onProof={(proof) => onConfirm({ confirm: typed, proof })}
      onClose={onClose}
    >
      <p className="text-soft leading-6">
        From now on, the API keys of the team are rejected, its email stays queued, and its webhooks get no
        events. Its owners and admins get an email. After 7 days, everything of the team is deleted. Until
        then, an owner or an operator can cancel it.
      </p>
      <TextField
        label={`Enter “${name}” to confirm`}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </ProofDialog>
  );
}
