"use client";

import { useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { CAPTURED, CAPTURED_ADVICE } from "#server/shared/email-words";
import type { InstallationStatus } from "#server/trpc/installation/installation";
import { type Column, DataTable, timeColumn } from "../_ui/list/data-table";
import { Empty } from "../_ui/list/empty";
import { SkeletonCard } from "../_ui/list/skeleton";
import { Part, Section } from "../_ui/page/card";
import { Fetched } from "../_ui/page/fetched";
import { MessageText } from "../_ui/text/address";
import { Badge } from "../_ui/text/badge";
import { useTRPC } from "../_ui/trpc";

const refetchMs = 5_000;

type Worker = InstallationStatus["workers"][number];

/** Whether accepted email can be sent, and the processes that send it. */
export function StatusPage() {
  const trpc = useTRPC();
  const status = useQuery(trpc.installation.status.queryOptions(undefined, { refetchInterval: refetchMs }));
  return (
    <Fetched by={status} loading={<SkeletonCard lines={5} />}>
      {({ readiness, release, workers }) => (
        <div className="flex flex-col gap-6">
          <Section
            title="Readiness"
            note={
              <>
                Backstamp {release}. A load balancer reads the same state at <code>/api/health/ready</code>.
              </>
            }
            actions={
              <>
                {readiness.isReady ? <Badge tone="good">Ready</Badge> : <Badge tone="bad">Not ready</Badge>}
                {isCapturing(workers) ? <Badge tone="warn">Test mode</Badge> : null}
              </>
            }
          >
            <Messages readiness={readiness} isTest={isCapturing(workers)} />
          </Section>
          <Part title="Workers">
            <DataTable
              label="Workers"
              columns={COLUMNS}
              rows={workers}
              empty={
                <Empty icon={Cpu} title="No workers">
                  <p>
                    The queue is not processed. Start a worker: <code>backstamp worker</code>
                  </p>
                </Empty>
              }
            />
          </Part>
        </div>
      )}
    </Fetched>
  );
}

/** The workers record email and send none. */
const isCapturing = (workers: readonly Worker[]): boolean =>
  workers.some(({ isActive, transport }) => isActive && transport === "capture");

const CAPTURING = `${CAPTURED} ${CAPTURED_ADVICE}`;

/** A release that this one does not know may add a value. */
const TRANSPORTS: Record<string, string> = {
  relay: "SMTP_URL and relays",
  direct: "Direct delivery",
  capture: "Capture",
  none: "Relays",
};

function Messages({ readiness, isTest }: Pick<InstallationStatus, "readiness"> & { isTest: boolean }) {
  const messages = readiness.isReady
    ? [...(isTest ? [CAPTURING] : []), ...readiness.alarms.map(({ message }) => message)]
    : [readiness.message];
  return messages.length === 0 ? (
    <p className="px-5 pb-5 text-soft">Email is accepted and delivered. Nothing needs attention.</p>
  ) : (
    <ul className="flex flex-col gap-2 px-5 pb-5">
      {messages.map((message) => (
        <li key={message} className="break-words">
          <MessageText>{message}</MessageText>
        </li>
      ))}
    </ul>
  );
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    header: "Host",
    cell: ({ host, pid, isScheduled }) => (
      <span className="block truncate" title={host}>
        {host}
        <span className="font-normal text-soft">
          {isScheduled ? ", scheduled rounds" : `, process ${pid}`}
        </span>
      </span>
    ),
  },
  {
    header: "Transport",
    width: "w-44",
    cell: ({ transport }) => TRANSPORTS[transport] ?? transport,
  },
  timeColumn("Started", ({ startedAt }) => startedAt, { isWide: true }),
  timeColumn("Last heartbeat", ({ beatAt }) => beatAt),
  {
    header: "Status",
    width: "w-36",
    phone: "corner",
    cell: ({ isActive }) => (
      <Badge tone={isActive ? "good" : "bad"}>{isActive ? "Healthy" : "Not responding"}</Badge>
    ),
  },
];
