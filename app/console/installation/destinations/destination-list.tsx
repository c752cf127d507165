"use client";

import { useQuery } from "@tanstack/react-query";
import { Gauge, Send } from "lucide-react";
import type { DestinationRow, DestinationState } from "#server/trpc/installation/installation";
import { type Column, DataTable, timeColumn } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { MessageText } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";

/** Destinations with their limits, why and until when, and the limits that the operator set by command. */
export function DestinationList() {
  const trpc = useTRPC();
  const list = useQuery(trpc.installation.destinations.queryOptions());
  return (
    <Fetched by={list} loading={<SkeletonTable />}>
      {({ states, rows, transport }) => (
        <>
          <p className="mb-4 max-w-prose text-pretty text-soft leading-6">
            {transport === "direct" ? null : (
              <>
                <MessageText>{NOT_IN_EFFECT[transport]}</MessageText>{" "}
              </>
            )}
            Direct delivery adapts connections and rate to the responses of each destination: a provider, or
            the domain of the MX hosts. All workers share these limits. A destination is new until it has
            accepted 1,000 emails from the sending address.
          </p>
          <DataTable
            label="Destinations"
            columns={STATE_COLUMNS}
            rows={states}
            empty={
              <Empty icon={Send} title="No destinations">
                <p>They appear here after the first email is sent directly.</p>
              </Empty>
            }
          />
          <h2 className="mt-8 mb-3 font-medium">Your limits</h2>
          <DataTable
            label="Your limits"
            columns={COLUMNS}
            rows={rows}
            empty={
              <Empty icon={Gauge} title="No limits">
                <p>
                  Set one on the command line:{" "}
                  <code className="font-mono text-xs">
                    backstamp destination set example.com{" "}
                    <span className="whitespace-nowrap">--connections 4</span>{" "}
                    <span className="whitespace-nowrap">--per-minute 120</span>
                  </code>
                </p>
              </Empty>
            }
          />
        </>
      )}
    </Fetched>
  );
}

const NOT_DIRECT = "These limits require `SMTP_URL=direct:` and are not in effect.";
/** Why the limits do not apply. */
const NOT_IN_EFFECT = {
  capture: "SMTP_URL is capture:, so these limits are not in effect.",
  relay: NOT_DIRECT,
  none: NOT_DIRECT,
};

const format = (limit: number | null) =>
  limit === null ? <span className="text-soft">No limit</span> : limit.toLocaleString("en");

/** The most that is counted of what waits for a destination. */
const waitingMax = 10_000;

const REASONS = { objection: "Limited by its reply", new: "New", operator: "Your limit" } as const;

const STATE_COLUMNS: readonly Column<DestinationState>[] = [
  {
    header: "Destination",
    isWhole: true,
    cell: ({ destination, source }) => (
      <>
        {destination}
        {source ? <span className="block text-soft text-xs">from {source}</span> : null}
      </>
    ),
  },
  { header: "Connections", width: "w-32", align: "right", cell: ({ connections }) => format(connections) },
  { header: "Emails per minute", width: "w-40", align: "right", cell: ({ perMinute }) => format(perMinute) },
  {
    header: "Reason",
    isWhole: true,
    cell: ({ reason, reply }) => (
      <>
        {reason === null ? <span className="text-soft">None</span> : REASONS[reason]}
        {reply ? <span className="block text-soft text-xs [overflow-wrap:anywhere]">{reply}</span> : null}
      </>
    ),
  },
  timeColumn("Blocked until", ({ blockedUntil }) => blockedUntil, { isDue: true, none: "Not blocked" }),
  {
    header: "Waiting",
    width: "w-24",
    align: "right",
    cell: ({ waiting }) => `${waiting.toLocaleString("en")}${waiting === waitingMax ? "+" : ""}`,
  },
];

const COLUMNS: readonly Column<DestinationRow>[] = [
  { header: "Destination", isWhole: true, cell: ({ domain }) => domain },
  {
    header: "Connections",
    width: "w-36",
    align: "right",
    cell: ({ connectionsMax }) => format(connectionsMax),
  },
  {
    header: "Emails per minute",
    width: "w-44",
    align: "right",
    cell: ({ perMinute }) => format(perMinute),
  },
  timeColumn("Changed", ({ updatedAt }) => updatedAt),
];
