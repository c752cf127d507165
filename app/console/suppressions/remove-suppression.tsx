"use client";

import { useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { Confirm } from "../_ui/dialog/confirm";
import { Button } from "../_ui/form/button";
import { useDisabledReason } from "../_ui/page/permission";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import type { Origin } from "./filters";

/** The consequences of a removal, by the origin of the suppression. */
const MEANING: Record<Origin, string> = {
  bounce:
    "This address hard bounced: its mail server rejected it permanently. If it still does not exist, the next email bounces too. The address is then suppressed again, and your reputation with that server declines.",
  complaint:
    "The recipient marked one of your emails as spam. Another complaint harms the reputation of your domain at that mailbox provider. Remove the address only if the recipient asked for it.",
  manual: "This address was added manually.",
};

/** Removes one address from the suppression list, after a confirmation that shows the consequences. */
export function RemoveSuppression({ teamId, row }: { teamId: string; row: SuppressionRow }) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const why = useDisabledReason()("suppressions:write", "remove suppressions");
  const { run, isBusy, fault } = useAction(trpc.suppressions.remove.mutationOptions(), {
    done: `${row.email} removed from the list`,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: () => setConfirming(false),
  });
  return (
    <>
      <Button
        tone="quiet"
        isSmall
        disabledReason={why}
        title="Remove from list"
        aria-label={`Remove from list: ${row.email}`}
        onClick={() => setConfirming(true)}
        className="max-lg:-ml-2"
      >
        Remove
      </Button>
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title={`Remove ${row.email} from the list?`}
        confirmLabel="Remove from list"
        tone={row.origin === "manual" && !row.lists_only ? "plain" : "bad"}
        isBusy={isBusy}
        fault={fault}
        onConfirm={() => run({ team: teamId, ids: [row.id] })}
      >
        <p>
          {row.lists_only
            ? "The recipient used the unsubscribe link. In many countries it is illegal to send them such email again unless they ask for it."
            : MEANING[row.origin]}
        </p>
        <p>Only new email is sent to this address. Email that was suppressed before is not sent.</p>
      </Confirm>
    </>
  );
}
