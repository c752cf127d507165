"use client";

import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import type { DestinationRow } from "#server/trpc/installation/installation";
import { type Column, DataTable, timeColumn } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { MessageText } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";

/** The limits that the operator set for destinations. The command line changes them. */
export function DestinationList() {
  const trpc = useTRPC();
  const list = useQuery(trpc.installation.destinations.queryOptions());
  return (
    <Fetched by={list} loading={<SkeletonTable />}>
      {({ rows, transport }) => (
        <>
          <p className="mb-4 max-w-prose text-pretty text-soft leading-6">
            {transport === "direct" ? null : (
              <>
                <MessageText>{NOT_IN_EFFECT[transport]}</MessageText>{" "}
              </>
            )}
            Limits for direct delivery to recipients' domains, shared by all teams and workers. Without a
            limit, concurrency and rate adapt to the responses of each destination.
          </p>
          <DataTable
            label="Destinations"
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
