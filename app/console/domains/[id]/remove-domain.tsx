"use client";

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { faultOf } from "../../_ui/fault";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";

type Props = {
  teamId: string;
  domain: { id: string; name: string };
  onClose: () => void;
  onRemoved?: () => void;
};

/** Asks once before a domain goes, by its name, and says what stops. */
export function RemoveDomain({ teamId, domain: { id, name }, onClose, onRemoved = onClose }: Props) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const { data, error } = useQuery(trpc.domains.get.queryOptions({ team: teamId, id }));
  const { act, isBusy, fault } = useAct(trpc.domains.remove.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: `${name} removed`,
    onDone: onRemoved,
  });
  const isRight = typed.trim().toLowerCase() === name;
  const remove = (event: FormEvent) => {
    event.preventDefault();
    if (isRight) act({ team: teamId, id });
  };
  return (
    <Dialog open onOpenChange={onClose} title={`Remove ${name}?`}>
      <form onSubmit={remove} className="flex flex-col gap-4">
        <ul className="flex list-disc flex-col gap-1 pl-5 text-soft leading-6">
          <li>Nothing can be sent from it any more, and mail from it that waits is not sent.</li>
          <li>
            {data
              ? sayKeys(data.keys.filter(({ isForAll }) => !isForAll).length)
              : error
                ? `Which API keys lose it could not be looked up: ${faultOf(error).message}`
                : "Looking which API keys lose it…"}
          </li>
          <li>Its DKIM keys are gone. Added again, it needs new records.</li>
          <li>Mail that was sent stays in the list.</li>
        </ul>
        <TextField
          label={
            <>
              Type <span className="wrap-anywhere font-mono">{name}</span> to go on
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
          <SubmitButton tone="danger" isBusy={isBusy} disabled={!isRight}>
            Remove the domain
          </SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const sayKeys = (count: number): string =>
  count === 0
    ? "No API key is linked to it alone."
    : `${count} API ${count === 1 ? "key loses" : "keys lose"} the right to send from it.`;
