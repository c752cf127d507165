"use client";

import { Rewind } from "lucide-react";
import { useState } from "react";
import type { EndpointView, WebhookDeliveryView } from "#server/trpc/webhook-views";
import { ActButton } from "../../../../_ui/act-button";
import { Confirm } from "../../../../_ui/confirm";
import { useWhyNot } from "../../../../_ui/no-right";
import { buttonStyle } from "../../../../_ui/styles";
import { useTRPC } from "../../../../_ui/trpc";
import { useAct } from "../../../../_ui/use-act";

type Props = { teamId: string; endpoint: EndpointView; delivery: WebhookDeliveryView };

/** Sends one event again. What was taken already is asked about first: the program gets it a second time. */
export function ReplayButton({ teamId, endpoint, delivery }: Props) {
  const trpc = useTRPC();
  const [isAsked, setAsked] = useState(false);
  const whyNot = useWhyNot()("webhooks:write", "replay events");
  const replaying = useAct(trpc.webhooks.replay.mutationOptions(), {
    done: "On its way again",
    refresh: [
      trpc.webhooks.delivery.queryKey(),
      trpc.webhooks.deliveries.queryKey(),
      trpc.webhooks.get.queryKey(),
    ],
    onDone: () => setAsked(false),
  });
  const closed =
    endpoint.status === "enabled" ? whyNot : (whyNot ?? "The webhook is paused. Resume it first.");
  const replay = () => replaying.act({ team: teamId, id: endpoint.id, event: delivery.id });
  const isTaken = delivery.status === "success";
  return (
    <>
      <ActButton
        disabled={replaying.isBusy}
        whyNot={closed}
        onClick={() => (isTaken ? setAsked(true) : replay())}
        className={`${buttonStyle.plain} h-10`}
      >
        <Rewind className="size-4" aria-hidden="true" /> Replay
      </ActButton>
      <Confirm
        open={isAsked}
        onOpenChange={setAsked}
        title="Send it again?"
        confirmLabel="Send it again"
        tone="plain"
        isBusy={replaying.isBusy}
        onConfirm={replay}
      >
        <p>
          The endpoint has taken this event. It gets it a second time, with the same id and body: a program
          that looks at <code className="font-mono text-ink">webhook-id</code> does nothing twice.
        </p>
      </Confirm>
    </>
  );
}
