"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Globe, Plus, SearchX, TriangleAlert } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo } from "react";
import type { DomainRow } from "#server/trpc/domain-views";
import { ActButton } from "../_ui/act-button";
import { Badge } from "../_ui/badge";
import { type Column, DataTable } from "../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { FilterBar, SearchField } from "../_ui/filter-bar";
import { lazyPart } from "../_ui/lazy-part";
import { useWhyNot } from "../_ui/no-right";
import { Pager } from "../_ui/pager";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { When } from "../_ui/when";
import { domainFilters, listInput } from "./filters";
import { DomainsHeading } from "./heading";
import { DomainRowMenu } from "./row-menu";
import { askAgainMs, HEALTH } from "./words";

const AddDomain = lazyPart(async () => (await import("./add-domain")).AddDomain);

const isMoving = ({ health }: DomainRow) => health === "waiting" || health === "faulty";

/** The list, live while a domain waits for DNS, and the way to add one. */
export function DomainList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(domainFilters);
  const [isAdding, setAdding] = useNew("domains:write");
  const whyNot = useWhyNot()("domains:write", "add domains");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.domains.list.queryOptions(listInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data?.rows.some(isMoving) ? askAgainMs * 2 : false),
    }),
  );
  const columns = useMemo(() => withMenu(teamId), [teamId]);
  const add = (
    <ActButton onClick={() => setAdding(true)} whyNot={whyNot} className={`${buttonStyle.primary} h-10`}>
      <Plus className="size-4" aria-hidden="true" /> Add domain
    </ActButton>
  );
  const empty = filters.name ? (
    <NoMatch icon={SearchX} title="No domain matches" clears="search" onClear={() => void setFilters(null)}>
      <p>No domain of this team has that in its name.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty icon={Globe} title="No domain yet" action={add}>
      <p>
        Add the domain that your mail comes from. You are shown which records to publish, and told when they
        are right.
      </p>
    </Empty>
  );

  // Of the whole list: of a search, or on a later page, it tells nothing that only the built-in one is left.
  const isWhole = !filters.name && !filters.after && !filters.before;
  const hasNoneOfItsOwn =
    isWhole && data?.rows.length !== 0 && data?.rows.every(({ health }) => health === "built_in");

  return (
    <>
      <DomainsHeading actions={add} />
      <FilterBar>
        <SearchField
          label="Search by name"
          value={filters.name ?? ""}
          onSettle={(name) => void setFilters({ name: name || null, after: null, before: null })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Domains"
          columns={columns}
          rows={data?.rows ?? []}
          rowHref={({ id }) => `/console/domains/${id}`}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={empty}
        />
      </Fetched>
      {data ? (
        <Pager page={data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
      ) : null}
      {hasNoneOfItsOwn ? (
        <div className="mt-4">
          <Empty icon={Globe} title="No domain of your own yet" action={add}>
            <p>
              The built-in one answers here, to show how all of it works. Add the one that your mail comes
              from: you are shown which records to publish, and told when they are right.
            </p>
          </Empty>
        </div>
      ) : null}
      {isAdding ? (
        <Suspense>
          <AddDomain teamId={teamId} onClose={() => setAdding(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

const COLUMNS: readonly Column<DomainRow>[] = [
  {
    id: "name",
    header: "Name",
    cell: ({ name, unicode, warning }) => (
      <>
        {warning ? (
          <span title={warning}>
            <TriangleAlert
              className="mr-1.5 inline size-4 text-warn"
              role="img"
              aria-label="May be taken for another name:"
            />
          </span>
        ) : null}
        {unicode ?? name}
        {unicode ? <span className="ml-2 font-mono font-normal text-soft text-xs">{name}</span> : null}
      </>
    ),
  },
  {
    id: "health",
    header: "Health",
    width: "w-40",
    phone: "corner",
    cell: ({ health }) => (
      <Badge tone={HEALTH[health].tone} title={HEALTH[health].means}>
        {HEALTH[health].label}
      </Badge>
    ),
  },
  {
    id: "today",
    header: "Today",
    width: "w-52",
    cell: ({ allowedToday, handedOverToday, isWarmingUp }) =>
      allowedToday === null ? (
        <span className="text-soft">No cap</span>
      ) : (
        <span title={isWarmingUp ? "It warms up: tomorrow allows more" : "Recipients, by the daily cap"}>
          {handedOverToday.toLocaleString("en")} of {allowedToday.toLocaleString("en")}
          {isWarmingUp ? <span className="text-soft"> · warming up</span> : null}
        </span>
      ),
  },
  {
    id: "looked",
    header: "Last look",
    width: "w-32",
    cell: ({ lastCheckedAt, health }) =>
      lastCheckedAt ? (
        <When at={lastCheckedAt} className="text-soft" />
      ) : (
        <span className="text-soft">{health === "built_in" ? "Needs none" : "Never"}</span>
      ),
  },
];

const withMenu = (teamId: string): readonly Column<DomainRow>[] => [
  ...COLUMNS,
  {
    id: "menu",
    header: "Actions",
    isHeaderHidden: true,
    isActive: true,
    width: "w-14",
    align: "right",
    phone: "hidden",
    cell: (row) => <DomainRowMenu teamId={teamId} row={row} />,
  },
];
