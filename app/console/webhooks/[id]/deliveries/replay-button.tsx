"use client";

import { Rewind } from "lucide-react";
import { useState } from "react";
import type { WebhookEventWire } from "#server/shared/wire/webhook";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Confirm } from "../../../_ui/dialog/confirm";
import { Button } from "../../../_ui/form/button";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { useBlockedReason } from "../../badges";

type Props = {
  teamId: string;
  endpoint: EndpointView;
  delivery: Pick<WebhookEventWire, "id" | "status">;
  isSmall?: boolean;
  onReplayed?: (id: string) => void;
};

/**
 * Sends one event again. Asks for confirmation if it succeeded before, because the program receives it twice.
 */
export function ReplayButton({ teamId, endpoint, delivery, isSmall, onReplayed }: Props) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const disabledReason = useBlockedReason(endpoint, "replay events");
  const replaying = useAction(trpc.webhooks.replay.mutationOptions(), {
    done: "Event queued for replay",
    refresh: [trpc.webhooks.pathKey()],
    onDone: ({ id }) => {
      setConfirming(false);
      onReplayed?.(id);
    },
  });
  const replay = () => replaying.run({ team: teamId, id: endpoint.id, event: delivery.id });
  const hasSucceeded = delivery.status === "success";
  return (
    <>
      <Button
        Icon={Rewind}
        isSmall={isSmall ?? false}
        disabled={replaying.isBusy}
        disabledReason={disabledReason}
        onClick={() => (hasSucceeded ? setConfirming(true) : replay())}
      >
        Replay
      </Button>
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Replay this event?"
        confirmLabel="Replay"
        tone="plain"
        isBusy={replaying.isBusy}
        onConfirm={replay}
      >
        <p>
          This event was delivered before. The endpoint receives it again, with the same id and body. A
          program that checks <code className="font-mono text-ink">webhook-id</code> does not process it
          twice.
        </p>
      </Confirm>
    </>
  );
}
