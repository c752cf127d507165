"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { HeldView } from "#server/trpc/overview/overview";
import { Confirm } from "../_ui/dialog/confirm";
import { ActionButton } from "../_ui/form/action-button";
import { RadioCards, TextField } from "../_ui/form/form";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

const refetchMs = 30_000;

/** After a restore: how much email is held and why, with the decision about it. Nothing if no email is held. */
export function HeldNotice({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data: held } = useQuery(
    trpc.overview.held.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const [isOpen, setIsOpen] = useState(false);
  const disabledReason = useDisabledReason()("team:write", "decide about held email");
  if (!held) return null;
  return (
    <section
      aria-label="Held email"
      className="mb-6 flex flex-wrap items-center gap-3 rounded-xl bg-warn-tint px-4 py-3 text-warn leading-6"
    >
      <TriangleAlert className="size-4 shrink-0" aria-hidden="true" />
      <p className="min-w-0 flex-1 basis-80">
        The installation was restored from a backup
        {held.backupAt ? (
          <>
            {" "}
            made <When at={held.backupAt} />
          </>
        ) : null}
        . {formatDeliveries(held.deliveries)} held: the email was queued at that time and may have been sent
        since. New email is sent normally.
      </p>
      <ActionButton
        disabledReason={disabledReason}
        onClick={() => setIsOpen(true)}
        className={`${buttonStyle.plain} h-9 text-ink`}
      >
        Review held email
      </ActionButton>
      {isOpen ? <HeldDialog teamId={teamId} held={held} onClose={() => setIsOpen(false)} /> : null}
    </section>
  );
}

const formatDeliveries = (count: number) =>
  count === 1 ? "1 delivery is" : `${count.toLocaleString("en-GB")} deliveries are`;

type Choice = "period" | "all" | "none";
const LABELS: Record<Choice, string> = {
  period: "Release by time",
  all: "Release all",
  none: "Cancel all held email",
};

function HeldDialog({ teamId, held, onClose }: { teamId: string; held: HeldView; onClose: () => void }) {
  const trpc = useTRPC();
  const [choice, setChoice] = useState<Choice>("period");
  const [after, setAfter] = useState("");
  const [before, setBefore] = useState("");
  const [scheduled, setScheduled] = useState("");
  const { run, isBusy, fault } = useAction(trpc.overview.settleHeld.mutationOptions(), {
    done: ({ settled }, { to }) =>
      `${to === "cancel" ? "Canceled" : "Released"} ${settled} ${settled === 1 ? "delivery" : "deliveries"}`,
    refresh: [trpc.overview.pathKey(), trpc.emails.pathKey()],
    onDone: onClose,
  });
  const isIncomplete = choice === "period" && after === "" && before === "" && scheduled === "";
  return (
    <Confirm
      onOpenChange={onClose}
      title="Decide about held email"
      confirmLabel={LABELS[choice]}
      tone={choice === "none" ? "bad" : "plain"}
      isBusy={isBusy || isIncomplete}
      fault={fault}
      onConfirm={() =>
        run({
          team: teamId,
          to: choice === "none" ? "cancel" : "release",
          ...(choice === "period" && after !== "" && { acceptedAfter: new Date(after).toISOString() }),
          ...(choice === "period" && before !== "" && { acceptedBefore: new Date(before).toISOString() }),
          ...(choice === "period" &&
            scheduled !== "" && { scheduledAfter: new Date(scheduled).toISOString() }),
        })
      }
    >
      <p>
        {formatDeliveries(held.deliveries)} held, accepted between <When at={held.oldestAt} /> and{" "}
        <When at={held.newestAt} />.
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
