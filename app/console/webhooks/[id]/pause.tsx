"use client";

import { Confirm } from "../../_ui/dialog/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { formatPending } from "../columns";
import type { EndpointDialogProps } from "./actions";

/** Pauses an endpoint. The confirmation shows how many pending events fail. */
export function PauseEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const pausing = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook paused",
    refresh: [
      trpc.webhooks.get.queryKey(),
      trpc.webhooks.list.queryKey(),
      trpc.webhooks.deliveries.queryKey(),
    ],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Pause this webhook?"
      confirmLabel="Pause"
      tone="plain"
      isBusy={pausing.isBusy}
      fault={pausing.fault}
      onConfirm={() => pausing.run({ team: teamId, id: endpoint.id, status: "disabled" })}
    >
      <p>
        No events are sent to it, and new events are not stored while it is paused.
        {endpoint.waiting > 0
          ? ` Pending events that fail now: ${formatPending(endpoint)}. You can replay them after you resume the webhook.`
          : " It has no pending events."}
      </p>
    </Confirm>
  );
}
