"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ProofDialog } from "../security/proof-dialog";

/** Requests the deletion of the team. Requires its name, and the user's password or a code. */
export function DeleteTeam({ teamId, name, onClose }: { teamId: string; name: string; onClose: () => void }) {
  const trpc = useTRPC();
  const { data: methods } = useQuery(trpc.account.signInMethods.queryOptions());
  const [typed, setTyped] = useState("");
  const requesting = useAction(trpc.team.requestDeletion.mutationOptions(), {
    done: "Deletion requested",
    refresh: [trpc.team.deletion.queryKey(), trpc.service.pauses.queryKey()],
    onDone: onClose,
  });
  if (!methods) return null;
  return (
    <ProofDialog
      title={`Delete the team ${name}?`}
      proof={methods.proof}
      submitLabel="Delete team"
      tone="danger"
      action={requesting}
      onProof={(proof) => requesting.run({ team: teamId, confirm: typed, proof })}
      onClose={onClose}
    >
      <p className="text-soft leading-6">
        From now on, the API keys of the team are rejected, its email is not sent, and its webhooks get no
        events. After 7 days, everything of the team is deleted. Until then, an owner can cancel it here.
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
