"use client";

import { Pause, Pencil, Play, RefreshCw, Rewind, Send, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { EndpointView } from "#server/trpc/webhook-views";
import { ActButton } from "../../_ui/act-button";
import { lazyPart } from "../../_ui/lazy-part";
import { Menu, type MenuItem } from "../../_ui/menu";
import { useWhyNot } from "../../_ui/no-right";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";

const EditEndpoint = lazyPart(async () => (await import("./edit")).EditEndpoint);
const RotateSecret = lazyPart(async () => (await import("./rotate")).RotateSecret);
const PauseEndpoint = lazyPart(async () => (await import("./pause")).PauseEndpoint);
const DeleteEndpoint = lazyPart(async () => (await import("./delete")).DeleteEndpoint);
const TestEvent = lazyPart(async () => (await import("./test-event")).TestEvent);
const ReplayRange = lazyPart(async () => (await import("./replay-range")).ReplayRange);

/** What every dialog about an endpoint is given. */
export type EndpointDialogProps = {
  teamId: string;
  endpoint: EndpointView;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

type Ask = "edit" | "rotate" | "pause" | "delete" | "test" | "replay";

/** What can be done with an endpoint. Each dialog's code comes when it is first opened. */
export function EndpointActions({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const trpc = useTRPC();
  const whyNot = useWhyNot()("webhooks:write", "change webhooks");
  const [open, setOpen] = useState<Ask | null>(null);
  const [wanted, setWanted] = useState<ReadonlySet<Ask>>(new Set());
  const resuming = useAct(trpc.webhooks.update.mutationOptions(), {
    done: "The webhook is told of events again",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
  });
  const isEnabled = endpoint.status === "enabled";
  const start = (ask: Ask) => {
    setWanted(new Set([...wanted, ask]));
    setOpen(ask);
  };
  const dialog = (ask: Ask) => ({
    teamId,
    endpoint,
    open: open === ask,
    onOpenChange: (isOpen: boolean) => setOpen(isOpen ? ask : null),
  });
  const closed = isEnabled ? whyNot : (whyNot ?? "It is paused. Resume it first.");
  const locked = { why: whyNot };
  const items: MenuItem[] = [
    { label: "Edit…", Icon: Pencil, ...locked, onSelect: () => start("edit") },
    { label: "Rotate the secret…", Icon: RefreshCw, ...locked, onSelect: () => start("rotate") },
    {
      label: "Replay a range…",
      Icon: Rewind,
      why: closed,
      onSelect: () => start("replay"),
    },
    "line",
    { label: "Delete…", Icon: Trash2, tone: "bad", ...locked, onSelect: () => start("delete") },
  ];
  return (
    <>
      <ActButton whyNot={closed} onClick={() => start("test")} className={`${buttonStyle.plain} h-10`}>
        <Send className="size-4" aria-hidden="true" /> Send test event…
      </ActButton>
      {isEnabled ? (
        <ActButton whyNot={whyNot} onClick={() => start("pause")} className={`${buttonStyle.plain} h-10`}>
          <Pause className="size-4" aria-hidden="true" /> Pause…
        </ActButton>
      ) : (
        <ActButton
          disabled={resuming.isBusy}
          whyNot={whyNot}
          onClick={() => resuming.act({ team: teamId, id: endpoint.id, status: "enabled" })}
          className={`${buttonStyle.primary} h-10`}
        >
          <Play className="size-4" aria-hidden="true" /> Resume
        </ActButton>
      )}
      <Menu label="More actions" items={items} />
      <Suspense>
        {wanted.has("edit") ? <EditEndpoint {...dialog("edit")} /> : null}
        {wanted.has("rotate") ? <RotateSecret {...dialog("rotate")} /> : null}
        {wanted.has("pause") ? <PauseEndpoint {...dialog("pause")} /> : null}
        {wanted.has("delete") ? <DeleteEndpoint {...dialog("delete")} /> : null}
        {wanted.has("test") ? <TestEvent {...dialog("test")} /> : null}
        {wanted.has("replay") ? <ReplayRange {...dialog("replay")} /> : null}
      </Suspense>
    </>
  );
}
