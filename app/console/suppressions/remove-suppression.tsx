"use client";

import type { SuppressionRow } from "#server/trpc/suppressions";
import { Confirm } from "../_ui/confirm";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import type { Origin } from "./filters";

type Props = {
  teamId: string;
  row: SuppressionRow;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** What it means to write to an address again, by what had put it on the list. */
const MEANING: Record<Origin, string> = {
  bounce:
    "It bounced: its mail server said that the address is dead. Where that is still so, the next mail bounces too, the address comes back onto this list, and your reputation with that server suffers a little more.",
  complaint:
    "Its reader marked a mail of yours as spam. Another complaint harms the reputation of your domain with all readers of that provider. Take it off only when the reader asked for it.",
  manual: "Somebody put it on the list by hand.",
};

/** Asks once, and says what comes of it. */
export function RemoveSuppression({ teamId, row, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const { act, isBusy, fault } = useAct(trpc.suppressions.remove.mutationOptions(), {
    done: `${row.address} may be written to again`,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Write to ${row.address} again?`}
      confirmLabel="Take it off the list"
      tone={row.origin === "manual" && !row.listsOnly ? "plain" : "bad"}
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => act({ team: teamId, ids: [row.id] })}
    >
      <p>
        {row.listsOnly
          ? "Its reader unsubscribed by the link in a mail. In many countries the law forbids to send them such mail again before they ask for it."
          : MEANING[row.origin]}
      </p>
      <p>Mail from now on goes to it. What was set aside before stays so.</p>
    </Confirm>
  );
}
