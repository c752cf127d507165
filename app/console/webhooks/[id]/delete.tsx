"use client";

import { useRouter } from "next/navigation";
import { Confirm } from "../../_ui/confirm";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { sayWaiting } from "../columns";
import { ShownUrl } from "../shown-url";
import type { EndpointDialogProps } from "./actions";

/** Removes an endpoint, after telling what goes with it. */
export function DeleteEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const deletion = useAct(trpc.webhooks.remove.mutationOptions(), {
    done: "Webhook deleted",
    refresh: [trpc.webhooks.list.queryKey(), trpc.webhooks.heldUnknown.queryKey()],
    onDone: () => router.push(hrefOf("/console/webhooks")),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Delete this webhook?"
      confirmLabel="Delete the webhook"
      isBusy={deletion.isBusy}
      fault={deletion.fault}
      onConfirm={() => deletion.act({ team: teamId, id: endpoint.id })}
    >
      <p className="font-mono text-ink text-xs leading-5">
        <ShownUrl>{endpoint.url}</ShownUrl>
      </p>
      <p>
        {endpoint.waiting > 0
          ? `${sayWaiting(endpoint)} events wait for it and are never sent. `
          : "Nothing waits for it. "}
        Its secrets and the record of what it was told go with it. This cannot be undone.
      </p>
    </Confirm>
  );
}
