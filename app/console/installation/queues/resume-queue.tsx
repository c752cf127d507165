"use client";

import { useState } from "react";
import type { PauseRow } from "#server/trpc/installation/queues";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { formatQueue } from "./scope";

/** Ends a pause after a confirmation: what it delayed is sent at once. */
export function ResumeQueue({ pause }: { pause: PauseRow }) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const action = useAction(trpc.queues.resume.mutationOptions(), {
    done: "Resumed",
    refresh: [trpc.queues.status.queryKey(), trpc.service.pathKey(), trpc.installation.teams.queryKey()],
    onDone: () => setConfirming(false),
  });
  return (
    <>
      <Button isSmall aria-label={`Resume ${formatQueue(pause)}`} onClick={() => setConfirming(true)}>
        Resume
      </Button>
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title={`Resume sending: ${formatQueue(pause)}?`}
        confirmLabel="Resume sending"
        tone="plain"
        action={action}
        onConfirm={() => action.run({ team: pause.teamId, domain: pause.domain })}
      >
        <p>Email that waits for this pause is due at once.</p>
      </Confirm>
    </>
  );
}
