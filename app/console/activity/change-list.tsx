"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useState } from "react";
import type { KnownActor } from "#server/services/audit/read";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import { DataTable } from "../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { FilterBar, SelectFilter, withChosen } from "../_ui/list/filter-bar";
import { Pager } from "../_ui/list/pager";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { NoPermission } from "../_ui/page/permission";
import { useCan } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { CHANGE_COLUMNS } from "./change-columns";
import { FileLink } from "./file-link";
import { activeChangeFilters, changeFilters, changesInput, NOUN_OPTIONS, WITHIN_OPTIONS } from "./filters";

const ChangeDetail = lazyPart(async () => (await import("./change-detail")).ChangeDetail);

/** The list refetches automatically. Hidden tabs do not refetch. */
const refetchMs = 15_000;

/** The log of changes with its filters and pages. */
export function ChangeList({ teamId }: { teamId: string }) {
  return useCan()("audit:read") ? <Changes teamId={teamId} /> : <NoPermission what="view changes" />;
}

function Changes({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(changeFilters);
  const [open, setOpen] = useState<AuditEntryView | null>(null);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.activity.changes.queryOptions(changesInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: refetchMs,
    }),
  );
  const { data: actors = [] } = useQuery(trpc.activity.actors.queryOptions({ team: teamId }));
  const applyFilters = (change: Partial<typeof filters>) =>
    void setFilters({ ...change, after: null, before: null });
  const activeFilters = activeChangeFilters(filters);
  return (
    <>
      <FilterBar>
        <SelectFilter
          label="Actor"
          anyLabel="Any actor"
          className="md:w-56"
          value={filters.actor}
          options={withChosen(
            [
              ...actors.map(optionOf),
              { value: "operator", label: "Command line" },
              { value: "system", label: "Backstamp" },
            ],
            filters.actor,
          )}
          onChange={(actor) => applyFilters({ actor })}
        />
        <SelectFilter
          label="Type"
          anyLabel="Any type"
          value={filters.action}
          options={withChosen([...NOUN_OPTIONS], filters.action)}
          onChange={(action) => applyFilters({ action })}
        />
        <SelectFilter
          label="Time"
          anyLabel="Any time"
          value={filters.within}
          options={WITHIN_OPTIONS}
          onChange={(within) => applyFilters({ within })}
        />
        <FileLink path="/console/activity/changes-file" query={{ team: teamId, ...activeFilters }} />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Changes"
          columns={CHANGE_COLUMNS}
          rows={data?.rows ?? NONE}
          onOpen={setOpen}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={
            Object.keys(activeFilters).length > 0 ? (
              <NoMatch icon={History} title="No matching changes" onClear={() => void setFilters(null)}>
                <p>No change matches these filters.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={History} title="No changes yet">
                <p>
                  Changes to keys, domains, members and other settings appear here, as do email retries. The
                  log covers the console, the API and the command line.
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
          <ChangeDetail change={open} onClose={() => setOpen(null)} />
        </Suspense>
      ) : null}
    </>
  );
}

const NONE: AuditEntryView[] = [];

const optionOf = ({ id, actor, name }: KnownActor) => ({
  value: id,
  label: actor === "key" ? `Key: ${name ?? id}` : (name ?? id),
});
