"use client";

import { Ban, Pencil, Play, RefreshCw, Rewind, RotateCw, Send, Trash2 } from "lucide-react";
import { useState } from "react";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Menu } from "../../_ui/dialog/menu";
import type { MenuItem } from "../../_ui/dialog/menu-open";
import { Button } from "../../_ui/form/button";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { useBlockedReason } from "../badges";

const confirmations = () => import("./confirmations");
const DIALOGS = {
  edit: lazyDialog(async () => (await import("../endpoint-form")).EditEndpoint),
  rotate: lazyDialog(async () => (await confirmations()).RotateSecret),
  retry: lazyDialog(async () => (await confirmations()).RetryPending),
  disable: lazyDialog(async () => (await confirmations()).DisableEndpoint),
  delete: lazyDialog(async () => (await confirmations()).DeleteEndpoint),
  test: lazyDialog(async () => (await import("./test-event")).TestEvent),
  replay: lazyDialog(async () => (await import("./replay-range")).ReplayRange),
};

/** The actions on an endpoint. The code of each dialog loads when it is first opened. */
export function EndpointActions({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("webhooks:write", "change webhooks");
  const blockedReason = useBlockedReason(endpoint, "change webhooks");
  const [opened, setOpened] = useState<keyof typeof DIALOGS | null>(null);
  const Opened = opened && DIALOGS[opened];
  const enabling = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook enabled",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
  });
  const isEnabled = endpoint.status === "enabled";
  const items: MenuItem[] = [
    { label: "Edit…", Icon: Pencil, why: disabledReason, onSelect: () => setOpened("edit") },
    { label: "Rotate secret…", Icon: RefreshCw, why: disabledReason, onSelect: () => setOpened("rotate") },
    {
      label: "Retry all pending now…",
      Icon: RotateCw,
      why: blockedReason ?? (endpoint.waiting === 0 ? "No events are pending." : undefined),
      onSelect: () => setOpened("retry"),
    },
    { label: "Replay events…", Icon: Rewind, why: blockedReason, onSelect: () => setOpened("replay") },
    "line",
    { label: "Delete…", Icon: Trash2, tone: "bad", why: disabledReason, onSelect: () => setOpened("delete") },
  ];
  return (
    <>
      <Button Icon={Send} disabledReason={blockedReason} onClick={() => setOpened("test")}>
        Send test event…
      </Button>
      {isEnabled ? (
        <Button Icon={Ban} disabledReason={disabledReason} onClick={() => setOpened("disable")}>
          Disable…
        </Button>
      ) : (
        <Button
          tone="primary"
          Icon={Play}
          disabled={enabling.isBusy}
          disabledReason={disabledReason}
          onClick={() => enabling.run({ team: teamId, id: endpoint.id, status: "enabled" })}
        >
          Enable
        </Button>
      )}
      <Menu label="More actions" items={items} />
      {Opened ? <Opened teamId={teamId} endpoint={endpoint} onClose={() => setOpened(null)} /> : null}
    </>
  );
}
