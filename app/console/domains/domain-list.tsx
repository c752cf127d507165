"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Globe, Plus, SearchX, TriangleAlert } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo } from "react";
import type { DomainRow } from "#server/trpc/domains/views";
import { ActionButton } from "../_ui/form/action-button";
import { type Column, DataTable } from "../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { FilterBar, SearchField } from "../_ui/list/filter-bar";
import { Pager } from "../_ui/list/pager";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { domainFilters, listInput } from "./filters";
import { DomainsHeading } from "./heading";
import { HEALTH, refetchMs } from "./labels";
import { DomainRowMenu } from "./row-menu";

const AddDomain = lazyPart(async () => (await import("./add-domain")).AddDomain);

const isAwaitingDns = ({ health }: DomainRow) => health === "waiting" || health === "faulty";

/** The list of domains. Refetches while a domain awaits DNS. */
export function DomainList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(domainFilters);
  const [isAdding, setAdding] = useNew("domains:write");
  const disabledReason = useDisabledReason()("domains:write", "add domains");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.domains.list.queryOptions(listInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data?.rows.some(isAwaitingDns) ? refetchMs * 2 : false),
    }),
  );
  const columns = useMemo(() => withMenu(teamId), [teamId]);
  const add = (
    <ActionButton
      onClick={() => setAdding(true)}
      disabledReason={disabledReason}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Add domain
    </ActionButton>
  );
  const empty = filters.name ? (
    <NoMatch icon={SearchX} title="No results" clears="search" onClear={() => void setFilters(null)}>
      <p>No domain name of this team contains this text.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty icon={Globe} title="No domains yet" action={add}>
      <p>
        Add the domain that you send email from. Its page lists the records to publish and shows when they are
        verified.
      </p>
    </Empty>
  );

  // Only for the complete list: a search or a later page can contain the built-in domain alone for other reasons.
  const isWhole = !filters.name && !filters.after && !filters.before;
  const hasOnlyBuiltIn =
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
      {hasOnlyBuiltIn ? (
        <div className="mt-4">
          <Empty icon={Globe} title="No domain of your own yet" action={add}>
            <p>
              The built-in domain is for testing only. Add the domain that you send email from. Its page lists
              the records to publish and shows when they are verified.
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
              aria-label="Can be confused with another name:"
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
      <Badge tone={HEALTH[health].tone} title={HEALTH[health].description}>
        {HEALTH[health].label}
      </Badge>
    ),
  },
  {
    id: "today",
    header: "Today",
    width: "w-52",
    cell: ({ today: { allowed, handed_over }, warm_up }) =>
      allowed === null ? (
        <span className="text-soft">No cap</span>
      ) : (
        <span title={warm_up ? "Warming up: the limit grows each day" : "Recipients today, of the daily cap"}>
          {handed_over.toLocaleString("en")} of {allowed.toLocaleString("en")}
          {warm_up ? <span className="text-soft"> · warming up</span> : null}
        </span>
      ),
  },
  {
    id: "checked",
    header: "Last checked",
    width: "w-32",
    cell: ({ last_checked_at, health }) =>
      last_checked_at ? (
        <When at={last_checked_at} className="text-soft" />
      ) : (
        <span className="text-soft">{health === "built_in" ? "Not needed" : "Never"}</span>
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
