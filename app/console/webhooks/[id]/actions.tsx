"use client";

import { Pause, Pencil, Play, RefreshCw, Rewind, Send, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Menu, type MenuItem } from "../../_ui/dialog/menu";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** The props of every dialog about an endpoint. */
export type EndpointDialogProps = {
  teamId: string;
  endpoint: EndpointView;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

const confirmations = () => import("./confirmations");
const DIALOGS = {
  edit: lazyPart(async () => (await import("../endpoint-form")).EditEndpoint),
  rotate: lazyPart(async () => (await confirmations()).RotateSecret),
  pause: lazyPart(async () => (await confirmations()).PauseEndpoint),
  delete: lazyPart(async () => (await confirmations()).DeleteEndpoint),
  test: lazyPart(async () => (await import("./test-event")).TestEvent),
  replay: lazyPart(async () => (await import("./replay-range")).ReplayRange),
};
type DialogName = keyof typeof DIALOGS;

/** The actions on an endpoint. The code of each dialog loads when it is first opened. */
export function EndpointActions({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("webhooks:write", "change webhooks");
  const [open, setOpen] = useState<DialogName | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<DialogName>>(new Set());
  const resuming = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook resumed",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
  });
  const isEnabled = endpoint.status === "enabled";
  const start = (name: DialogName) => {
    setOpened(new Set([...opened, name]));
    setOpen(name);
  };
  const blockedReason = isEnabled
    ? disabledReason
    : (disabledReason ?? "The webhook is paused. Resume it first.");
  const items: MenuItem[] = [
    { label: "Edit…", Icon: Pencil, why: disabledReason, onSelect: () => start("edit") },
    { label: "Rotate secret…", Icon: RefreshCw, why: disabledReason, onSelect: () => start("rotate") },
    {
      label: "Replay events…",
      Icon: Rewind,
      why: blockedReason,
      onSelect: () => start("replay"),
    },
    "line",
    { label: "Delete…", Icon: Trash2, tone: "bad", why: disabledReason, onSelect: () => start("delete") },
  ];
  return (
    <>
      <ActionButton
        disabledReason={blockedReason}
        onClick={() => start("test")}
        className={`${buttonStyle.plain} h-10`}
      >
        <Send className="size-4" aria-hidden="true" /> Send test event…
      </ActionButton>
      {isEnabled ? (
        <ActionButton
          disabledReason={disabledReason}
          onClick={() => start("pause")}
          className={`${buttonStyle.plain} h-10`}
        >
          <Pause className="size-4" aria-hidden="true" /> Pause…
        </ActionButton>
      ) : (
        <ActionButton
          disabled={resuming.isBusy}
          disabledReason={disabledReason}
          onClick={() => resuming.run({ team: teamId, id: endpoint.id, status: "enabled" })}
          className={`${buttonStyle.primary} h-10`}
        >
          <Play className="size-4" aria-hidden="true" /> Resume
        </ActionButton>
      )}
      <Menu label="More actions" items={items} />
      <Suspense>
        {[...opened].map((name) => {
          const EndpointDialog = DIALOGS[name];
          return (
            <EndpointDialog
              key={name}
              teamId={teamId}
              endpoint={endpoint}
              open={open === name}
              onOpenChange={(isOpen) => setOpen(isOpen ? name : null)}
            />
          );
        })}
      </Suspense>
    </>
  );
}
