"use client";

import { useRouter } from "next/navigation";
import { Confirm } from "../../_ui/dialog/confirm";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { BreakableUrl } from "../breakable-url";
import { formatPending } from "../columns";
import type { EndpointDialogProps } from "./actions";

/** Deletes an endpoint. The confirmation lists what is deleted with it. */
export function DeleteEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const deletion = useAction(trpc.webhooks.remove.mutationOptions(), {
    done: "Webhook deleted",
    refresh: [trpc.webhooks.list.queryKey(), trpc.webhooks.heldUnknown.queryKey()],
    onDone: () => router.push(hrefOf("/console/webhooks")),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Delete this webhook?"
      confirmLabel="Delete webhook"
      isBusy={deletion.isBusy}
      fault={deletion.fault}
      onConfirm={() => deletion.run({ team: teamId, id: endpoint.id })}
    >
      <p className="font-mono text-ink text-xs leading-5">
        <BreakableUrl>{endpoint.endpoint}</BreakableUrl>
      </p>
      <p>
        {endpoint.waiting > 0
          ? `Pending events that are never sent: ${formatPending(endpoint)}. `
          : "It has no pending events. "}
        Its secrets and event deliveries are deleted. This cannot be undone.
      </p>
    </Confirm>
  );
}
