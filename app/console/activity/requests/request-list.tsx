"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useState } from "react";
import type { CallRow } from "#server/trpc/activity-views";
import { DataTable } from "../../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../../_ui/empty";
import { Fetched } from "../../_ui/fetched";
import { FilterBar, SelectFilter, withChosen } from "../../_ui/filter-bar";
import { lazyPart } from "../../_ui/lazy-part";
import { NoRight } from "../../_ui/no-right";
import { Pager } from "../../_ui/pager";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { FileLink } from "../file-link";
import { METHOD_OPTIONS, requestFilters, requestsInput, requestsWanted, STATUS_OPTIONS } from "../filters";
import { REQUEST_COLUMNS } from "./request-columns";

const RequestDetail = lazyPart(async () => (await import("./request-detail")).RequestDetail);

/** A call is there about a second after it was answered. A hidden tab asks for nothing. */
const askAgainMs = 5_000;

/** The record of calls, its filters and its pages. */
export function RequestList({ teamId }: { teamId: string }) {
  return useMay()("logs:read") ? (
    <Requests teamId={teamId} />
  ) : (
    <NoRight what="see what programs asked for" />
  );
}

function Requests({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(requestFilters);
  const [open, setOpen] = useState<CallRow | null>(null);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.activity.requests.queryOptions(requestsInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: askAgainMs,
    }),
  );
  const { data: keys = [] } = useQuery(trpc.activity.keys.queryOptions({ team: teamId }));
  const narrow = (change: Partial<typeof filters>) =>
    void setFilters({ ...change, after: null, before: null });
  const wanted = requestsWanted(filters);
  return (
    <>
      <FilterBar>
        <SelectFilter
          label="API key"
          anyLabel="Any key"
          className="md:w-56"
          value={filters.key}
          options={withChosen(
            keys.map(({ id, name }) => ({ value: id, label: name })),
            filters.key,
          )}
          onChange={(key) => narrow({ key })}
        />
        <SelectFilter
          label="Status"
          anyLabel="Any status"
          className="md:w-60"
          value={filters.status}
          options={STATUS_OPTIONS}
          onChange={(status) => narrow({ status })}
        />
        <SelectFilter
          label="Method"
          anyLabel="Any method"
          className="md:w-36"
          value={filters.method}
          options={METHOD_OPTIONS}
          onChange={(method) => narrow({ method })}
        />
        <FileLink path="/console/activity/requests-file" query={{ team: teamId, ...wanted }} />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="API requests"
          columns={REQUEST_COLUMNS}
          rows={data?.rows ?? NONE}
          onOpen={setOpen}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={
            Object.keys(wanted).length > 0 ? (
              <NoMatch icon={Activity} title="No such request" onClear={() => void setFilters(null)}>
                <p>None of the last seven days' requests is let through by these filters.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={Activity} title="No request yet">
                <p>
                  Every call that a program makes with a key of this team shows up here within a second or
                  two, refused ones included, and stays for seven days. Secrets and contents of mails are left
                  out.
                </p>
              </Empty>
            )
          }
        />
      </Fetched>
      {data ? (
        <Pager page={data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
      ) : null}
      {open ? (
        <Suspense>
          <RequestDetail teamId={teamId} row={open} onClose={() => setOpen(null)} />
        </Suspense>
      ) : null}
    </>
  );
}

const NONE: CallRow[] = [];
