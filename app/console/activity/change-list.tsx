"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useState } from "react";
import type { ActorView, ChangeRow } from "#server/trpc/activity-views";
import { DataTable } from "../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { FilterBar, SelectFilter, withChosen } from "../_ui/filter-bar";
import { lazyPart } from "../_ui/lazy-part";
import { NoRight } from "../_ui/no-right";
import { Pager } from "../_ui/pager";
import { useMay } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { CHANGE_COLUMNS } from "./change-columns";
import { FileLink } from "./file-link";
import { changeFilters, changesInput, changesWanted, NOUN_OPTIONS, WITHIN_OPTIONS } from "./filters";

const ChangeDetail = lazyPart(async () => (await import("./change-detail")).ChangeDetail);

/** Changes come in by themselves; a hidden tab asks for nothing. */
const askAgainMs = 15_000;

/** The log of changes, its filters and its pages. */
export function ChangeList({ teamId }: { teamId: string }) {
  return useMay()("audit:read") ? <Changes teamId={teamId} /> : <NoRight what="see who changed what" />;
}

function Changes({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(changeFilters);
  const [open, setOpen] = useState<ChangeRow | null>(null);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.activity.changes.queryOptions(changesInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: askAgainMs,
    }),
  );
  const { data: actors = [] } = useQuery(trpc.activity.actors.queryOptions({ team: teamId }));
  const narrow = (change: Partial<typeof filters>) =>
    void setFilters({ ...change, after: null, before: null });
  const wanted = changesWanted(filters);
  return (
    <>
      <FilterBar>
        <SelectFilter
          label="Who"
          anyLabel="Anybody"
          className="md:w-56"
          value={filters.actor}
          options={withChosen(
            [...actors.map(optionOf), { value: "operator", label: "Command line" }],
            filters.actor,
          )}
          onChange={(actor) => narrow({ actor })}
        />
        <SelectFilter
          label="What"
          anyLabel="Anything"
          value={filters.action}
          options={withChosen([...NOUN_OPTIONS], filters.action)}
          onChange={(action) => narrow({ action })}
        />
        <SelectFilter
          label="When"
          anyLabel="Any time"
          value={filters.within}
          options={WITHIN_OPTIONS}
          onChange={(within) => narrow({ within })}
        />
        <FileLink path="/console/activity/changes-file" query={{ team: teamId, ...wanted }} />
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
            Object.keys(wanted).length > 0 ? (
              <NoMatch icon={History} title="Nothing of that kind" onClear={() => void setFilters(null)}>
                <p>Nobody changed anything that these filters let through.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={History} title="Nothing was changed yet">
                <p>
                  Who makes a key, changes a domain, invites somebody or retries a mail is written down here,
                  whether they use this console, the API or the command line.
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

const NONE: ChangeRow[] = [];

const optionOf = ({ id, actor, name }: ActorView) => ({
  value: id,
  label: actor === "key" ? `Key: ${name ?? id}` : (name ?? id),
});
