"use client";

import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import type { DestinationRow } from "#server/trpc/installation/installation";
import { type Column, DataTable } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";

/** The limits that the operator set for destinations. The command line changes them. */
export function DestinationList() {
  const trpc = useTRPC();
  const list = useQuery(trpc.installation.destinations.queryOptions());
  return (
    <Fetched by={list} loading={<SkeletonTable />}>
      {({ rows, isDirect }) => (
        <>
          <p className="mb-4 max-w-prose text-pretty text-soft leading-6">
            Limits for direct delivery to recipients' domains, shared by all teams and workers. Without a
            limit, concurrency and rate adapt to the replies of each destination.
            {isDirect ? null : (
              <>
                {" "}
                These limits have no effect unless <code>SMTP_URL</code> is <code>direct:</code>.
              </>
            )}
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
                    backstamp destination set example.com --connections 4 --per-minute 120
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

const format = (limit: number | null) =>
  limit === null ? <span className="text-soft">No limit</span> : limit.toLocaleString("en");

const COLUMNS: readonly Column<DestinationRow>[] = [
  { id: "domain", header: "Destination", cell: ({ domain }) => <span className="truncate">{domain}</span> },
  {
    id: "connections",
    header: "Connections",
    width: "w-36",
    align: "right",
    cell: ({ connectionsMax }) => format(connectionsMax),
  },
  {
    id: "rate",
    header: "Emails per minute",
    width: "w-44",
    align: "right",
    cell: ({ perMinute }) => format(perMinute),
  },
  { id: "changed", header: "Changed", width: "w-36", cell: ({ updatedAt }) => <When at={updatedAt} /> },
];
