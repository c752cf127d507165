"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useState } from "react";
import type { CallView } from "#server/trpc/activity/activity";
import { DataTable } from "../../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../../_ui/list/empty";
import { FilterBar, SelectFilter, withChosen } from "../../_ui/list/filter-bar";
import { Pager } from "../../_ui/list/pager";
import { Fetched } from "../../_ui/page/fetched";
import { lazyPart } from "../../_ui/page/lazy-part";
import { NoPermission } from "../../_ui/page/permission";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { FileLink } from "../file-link";
import {
  activeRequestFilters,
  METHOD_OPTIONS,
  requestFilters,
  requestsInput,
  STATUS_OPTIONS,
} from "../filters";
import { REQUEST_COLUMNS } from "./request-columns";

const RequestDetail = lazyPart(async () => (await import("./request-detail")).RequestDetail);

/** A request appears about a second after its response. Hidden tabs do not refetch. */
const refetchMs = 5_000;

/** The log of API requests with its filters and pages. */
export function RequestList({ teamId }: { teamId: string }) {
  return useCan()("logs:read") ? <Requests teamId={teamId} /> : <NoPermission what="view API requests" />;
}

function Requests({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(requestFilters);
  const [open, setOpen] = useState<CallView | null>(null);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.activity.requests.queryOptions(requestsInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: refetchMs,
    }),
  );
  const { data: keys = [] } = useQuery(trpc.activity.keys.queryOptions({ team: teamId }));
  const applyFilters = (change: Partial<typeof filters>) =>
    void setFilters({ ...change, after: null, before: null });
  const activeFilters = activeRequestFilters(filters);
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
          onChange={(key) => applyFilters({ key })}
        />
        <SelectFilter
          label="Status"
          anyLabel="Any status"
          className="md:w-60"
          value={filters.status}
          options={STATUS_OPTIONS}
          onChange={(status) => applyFilters({ status })}
        />
        <SelectFilter
          label="Method"
          anyLabel="Any method"
          className="md:w-36"
          value={filters.method}
          options={METHOD_OPTIONS}
          onChange={(method) => applyFilters({ method })}
        />
        <FileLink path="/console/activity/requests-file" query={{ team: teamId, ...activeFilters }} />
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
            Object.keys(activeFilters).length > 0 ? (
              <NoMatch icon={Activity} title="No matching requests" onClear={() => void setFilters(null)}>
                <p>No request of the last seven days matches these filters.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={Activity} title="No requests yet">
                <p>
                  Every API request with a key of this team appears here within two seconds, including
                  rejected ones. Requests are stored for seven days, without secrets and email content.
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

const NONE: CallView[] = [];
