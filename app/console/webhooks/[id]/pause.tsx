"use client";

import { Confirm } from "../../_ui/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { sayWaiting } from "../columns";
import type { EndpointDialogProps } from "./actions";

/** Stops calling an endpoint, after telling what that gives up. */
export function PauseEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const pausing = useAct(trpc.webhooks.update.mutationOptions(), {
    done: "The webhook is paused",
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
      onConfirm={() => pausing.act({ team: teamId, id: endpoint.id, status: "disabled" })}
    >
      <p>
        It is called no more, and events that come while it is paused are not kept for it.
        {endpoint.waiting > 0
          ? ` ${sayWaiting(endpoint)} that wait for it are given up; after you resume it they can be replayed.`
          : " Nothing waits for it now."}
      </p>
    </Confirm>
  );
}
