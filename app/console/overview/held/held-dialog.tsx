"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { HeldView } from "#server/trpc/overview/overview";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { PartsActions } from "../../_ui/dialog/parts-actions";
import { RadioCards, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useParts } from "../../_ui/use-parts";
import { formatDeliveries, formatHeld } from "./held-words";

type Choice = "period" | "all" | "none";
const LABELS: Record<Choice, string> = {
  period: "Release by time",
  all: "Release all",
  none: "Cancel all held email",
};

/** The decision about held email, then its progress. */
export function HeldDialog({
  teamId,
  held,
  onClose,
}: {
  teamId: string;
  held: HeldView;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const [choice, setChoice] = useState<Choice>("period");
  const [after, setAfter] = useState("");
  const [before, setBefore] = useState("");
  const [scheduled, setScheduled] = useState("");
  const { mutateAsync } = useMutation(trpc.overview.settleHeld.mutationOptions());
  const settling = useParts(0, [trpc.overview.pathKey(), trpc.emails.pathKey()]);
  const isRunning = settling.state === "busy";
  const isIncomplete = choice === "period" && after === "" && before === "" && scheduled === "";
  const input = {
    team: teamId,
    to: choice === "none" ? ("cancel" as const) : ("release" as const),
    ...(choice === "period" && after !== "" && { acceptedAfter: new Date(after).toISOString() }),
    ...(choice === "period" && before !== "" && { acceptedBefore: new Date(before).toISOString() }),
    ...(choice === "period" && scheduled !== "" && { scheduledAfter: new Date(scheduled).toISOString() }),
  };
  const start = () =>
    settling.start(async (next, sum) => {
      const part = await mutateAsync({ ...input, next });
      return { sum: sum + part.settled, next: part.next };
    });
  if (settling.state !== "ready") {
    return (
      <Dialog
        onOpenChange={onClose}
        title="Held email"
        isPersistent={isRunning}
        footer={<PartsActions parts={settling} onClose={onClose} />}
      >
        <p role="status" className="leading-6">
          {formatDeliveries(settling.sum)} {input.to === "cancel" ? "canceled" : "released"}
          {isRunning ? "…" : ""}
          {settling.state === "stopped" ? ". Stopped: the rest stays held." : ""}
        </p>
        <FormFault fault={settling.fault} />
      </Dialog>
    );
  }
  return (
    <Confirm
      onOpenChange={onClose}
      title="Decide about held email"
      confirmLabel={LABELS[choice]}
      tone={choice === "none" ? "bad" : "plain"}
      isBusy={isIncomplete}
      onConfirm={start}
    >
      <p>
        {formatHeld(held)}, accepted between <When at={held.oldestAt} /> and <When at={held.newestAt} />.
      </p>
      <RadioCards
        label="Decision"
        name="held"
        value={choice}
        onChange={({ target }) => setChoice(target.value as Choice)}
        options={[
          {
            value: "period",
            label: "Release by time",
            hint: "Sends what was accepted in a period, or is scheduled after a time. The rest stays held.",
          },
          {
            value: "all",
            label: "Release all",
            hint: "Sends everything. What was sent after the backup is delivered twice.",
          },
          {
            value: "none",
            label: "Cancel all",
            hint: "Sends nothing. What was not sent before is never delivered.",
          },
        ]}
      />
      {choice === "period" ? (
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
          <TextField
            label="Accepted after"
            type="datetime-local"
            hint="In your local time zone."
            value={after}
            onChange={({ target }) => setAfter(target.value)}
          />
          <TextField
            label="Accepted before"
            type="datetime-local"
            value={before}
            onChange={({ target }) => setBefore(target.value)}
          />
          <TextField
            label="Scheduled after"
            type="datetime-local"
            hint="What is scheduled for after the old installation stopped was not sent."
            value={scheduled}
            onChange={({ target }) => setScheduled(target.value)}
          />
        </div>
      ) : null}
    </Confirm>
  );
}
