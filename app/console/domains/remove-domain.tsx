"use client";

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Dialog, DialogActions } from "../_ui/dialog/dialog";
import { faultOf } from "../_ui/fault";
import { SubmitButton, TextField } from "../_ui/form/form";
import { FormFault } from "../_ui/form/form-fault";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

type Props = {
  teamId: string;
  domain: { id: string; name: string };
  onClose: () => void;
  onRemoved?: () => void;
};

/** Confirms the removal of a domain: lists the consequences, and requires its name to be typed. */
export function RemoveDomain({ teamId, domain: { id, name }, onClose, onRemoved = onClose }: Props) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const { data, error } = useQuery(trpc.domains.get.queryOptions({ team: teamId, id }));
  const { run, isBusy, fault } = useAction(trpc.domains.remove.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: `${name} removed`,
    onDone: onRemoved,
  });
  const isConfirmed = typed.trim().toLowerCase() === name;
  const remove = (event: FormEvent) => {
    event.preventDefault();
    if (isConfirmed) run({ team: teamId, id });
  };
  return (
    <Dialog open onOpenChange={onClose} title={`Remove ${name}?`}>
      <form onSubmit={remove} className="flex flex-col gap-4">
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
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton tone="danger" isBusy={isBusy} disabled={!isConfirmed}>
            Remove domain{" "}
          </SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const formatKeyLoss = (count: number): string =>
  count === 0
    ? "No API key is restricted to this domain."
    : `${count} API ${count === 1 ? "key loses" : "keys lose"} permission to send from it.`;
