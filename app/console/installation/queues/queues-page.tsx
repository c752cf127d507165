"use client";

import { useQuery } from "@tanstack/react-query";
import { CirclePause, CirclePlay, Trash2 } from "lucide-react";
import { useState } from "react";
import { formatCount, STATUSES } from "#server/shared/email-words";
import type { PauseRow, QueueStatus } from "#server/trpc/installation/queues";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { type Column, DataTable, OneLine, timeColumn } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Part } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const PauseQueue = lazyDialog(async () => (await import("./dialogs")).PauseQueue);
const PurgeQueue = lazyDialog(async () => (await import("./dialogs")).PurgeQueue);

const refetchMs = 5_000;

/** The queue of the installation by state, and its pauses, with pause, resume and purge. */
export function QueuesPage() {
  const trpc = useTRPC();
  const [opened, setOpened] = useState<"pause" | "purge" | null>(null);
  const status = useQuery(trpc.queues.status.queryOptions(undefined, { refetchInterval: refetchMs }));
  const close = () => setOpened(null);
  return (
    <>
      <div className="mb-6 flex flex-wrap items-start justify-between gap-4">
        <p className="max-w-prose text-pretty text-soft leading-6">
          While sending is paused, email is still accepted and waits in the queue. Purging cancels queued
          email permanently.
        </p>
        <div className="flex flex-wrap gap-2">
          <Button Icon={CirclePause} onPointerEnter={PauseQueue.preload} onClick={() => setOpened("pause")}>
            Pause sending…
          </Button>
          <Button
            Icon={Trash2}
            className="text-bad"
            onPointerEnter={PurgeQueue.preload}
            onClick={() => setOpened("purge")}
          >
            Purge queue…
          </Button>
        </div>
      </div>
      <Fetched by={status} loading={<SkeletonTable rows={4} />}>
        {({ states, isComplete, pauses, lifted }) => (
          <div className="flex flex-col gap-8">
            <Part title="Deliveries for all teams">
              <DataTable label="Deliveries by status" columns={stateColumns(isComplete)} rows={states} />
            </Part>
            <Part title="Paused">
              <DataTable
                label="Pauses"
                columns={PAUSES}
                rows={pauses}
                empty={
                  <Empty icon={CirclePlay} title="Nothing is paused">
                    <p>
                      Pause sending for the installation, a team or a sender domain, for example during an
                      incident.
                    </p>
                  </Empty>
                }
              />
            </Part>
            {lifted.length > 0 ? (
              <Part title="Earlier pauses">
                <DataTable label="Earlier pauses" columns={LIFTED} rows={lifted} />
              </Part>
            ) : null}
          </div>
        )}
      </Fetched>
      {opened === "pause" ? <PauseQueue onClose={close} /> : null}
      {opened === "purge" ? <PurgeQueue onClose={close} /> : null}
    </>
  );
}

type State = QueueStatus["states"][number];

const stateColumns = (isComplete: boolean): readonly Column<State>[] => [
  { header: "Status", width: "w-36", cell: ({ id }) => STATUSES[id].label },
  {
    header: "Meaning",
    phone: "plain",
    cell: ({ id }) => <span className="text-soft">{STATUSES[id].description}</span>,
  },
  {
    header: "Deliveries",
    width: "w-32",
    align: "right",
    phone: "corner",
    cell: ({ count }) => formatCount(count, isComplete),
  },
  timeColumn("Earliest due", ({ oldestDueAt }) => oldestDueAt, { isDue: true }),
];

const ACTORS = { user: "A user", operator: "Command line", alert: "Alert" } as const;

const QUEUE: Column<PauseRow> = {
  header: "Queue",
  cell: (pause) => <OneLine>{formatQueue(pause)}</OneLine>,
};
const REASON: Column<PauseRow> = {
  header: "Reason",
  phone: "plain",
  isWhole: true,
  cell: ({ reason }) => reason,
};

const PAUSES: readonly Column<PauseRow>[] = [
  QUEUE,
  REASON,
  {
    header: "By",
    width: "w-48",
    isWhole: true,
    cell: ({ actor, actorName }) => actorName ?? ACTORS[actor],
  },
  timeColumn("Since", ({ createdAt }) => createdAt, { width: "w-32" }),
  {
    header: "Resume",
    isHeaderHidden: true,
    isActive: true,
    width: "w-28",
    align: "right",
    phone: "plain",
    cell: (pause) => <ResumeQueue pause={pause} />,
  },
];

const LIFTED: readonly Column<PauseRow>[] = [
  QUEUE,
  REASON,
  timeColumn("Paused", ({ createdAt }) => createdAt),
  timeColumn("Resumed", ({ liftedAt }) => liftedAt),
];

/** Ends a pause after a confirmation: what it delayed is sent at once. */
function ResumeQueue({ pause }: { pause: PauseRow }) {
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

/** "Whole installation", "Team Sales", "example.com, team Sales". */
const formatQueue = ({ teamName, domain }: Pick<PauseRow, "teamName" | "domain">): string =>
  teamName === null
    ? "Whole installation"
    : domain === null
      ? `Team ${teamName}`
      : `${domain}, team ${teamName}`;
