"use client";

import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { Confirm } from "../_ui/dialog/confirm";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import type { Origin } from "./filters";

type Props = {
  teamId: string;
  row: SuppressionRow;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** The consequences of a removal, by the origin of the suppression. */
const MEANING: Record<Origin, string> = {
  bounce:
    "This address hard bounced: its mail server rejected it permanently. If it still does not exist, the next email bounces too. The address is then suppressed again, and your reputation with that server declines.",
  complaint:
    "The recipient marked one of your emails as spam. Another complaint harms the reputation of your domain at that mailbox provider. Remove the address only if the recipient asked for it.",
  manual: "This address was added manually.",
};

/** Confirms the removal of an address, with its consequences. */
export function RemoveSuppression({ teamId, row, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const { run, isBusy, fault } = useAction(trpc.suppressions.remove.mutationOptions(), {
    done: `${row.address} removed from the list`,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Remove ${row.address} from the list?`}
      confirmLabel="Remove from list"
      tone={row.origin === "manual" && !row.listsOnly ? "plain" : "bad"}
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => run({ team: teamId, ids: [row.id] })}
    >
      <p>
        {row.listsOnly
          ? "The recipient used the unsubscribe link. In many countries it is illegal to send them such email again unless they ask for it."
          : MEANING[row.origin]}
      </p>
      <p>Only new email is sent to this address. Email that was suppressed before is not sent.</p>
    </Confirm>
  );
}
