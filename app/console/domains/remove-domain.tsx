"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "../_ui/dialog/form-dialog";
import { faultOf } from "../_ui/fault";
import { TextField } from "../_ui/form/form";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

type Props = {
  teamId: string;
  domain: { id: string; name: string };
  onClose: () => void;
  /** The page that opens after the removal. Default: this one stays. */
  next?: string;
};

/** Confirms the removal of a domain: lists the consequences, and requires its name to be typed. */
export function RemoveDomain({ teamId, domain: { id, name }, onClose, next }: Props) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const { data, error } = useQuery(trpc.domains.get.queryOptions({ team: teamId, id }));
  const action = useAction(trpc.domains.remove.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: `${name} removed`,
    ...(next === undefined ? { onDone: onClose } : { goTo: () => next }),
  });
  const isConfirmed = typed.trim().toLowerCase() === name;
  return (
    <FormDialog
      onClose={onClose}
      title={`Remove ${name}?`}
      onSubmit={() => isConfirmed && action.run({ team: teamId, id })}
      action={action}
      submitLabel="Remove domain"
      tone="danger"
      disabled={!isConfirmed}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5 text-soft leading-6">
        <li>You can no longer send from this domain. Queued email from it is not sent.</li>
        <li>
          {data
            ? formatKeyLoss(data.keys.filter(({ isForAll }) => !isForAll).length)
            : error
              ? `The affected API keys could not be loaded: ${faultOf(error).message}`
              : "Loading the affected API keys…"}
        </li>
        <li>Its DKIM keys are deleted. If you add the domain again, it needs new records.</li>
        <li>Sent email stays in the list.</li>
      </ul>
      <TextField
        label={
          <>
            Type <span className="wrap-anywhere font-mono">{name}</span> to confirm
          </>
        }
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        isMono
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </FormDialog>
  );
}

const formatKeyLoss = (count: number): string =>
  count === 0
    ? "No API key is restricted to this domain."
    : `${count} API ${count === 1 ? "key loses" : "keys lose"} permission to send from it.`;
