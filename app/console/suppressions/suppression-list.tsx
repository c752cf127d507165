"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Ban, Download, FileUp, Plus } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo, useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions";
import { ActButton } from "../_ui/act-button";
import { type Column, DataTable } from "../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { FilterBar, SearchField, SelectFilter } from "../_ui/filter-bar";
import { lazyPart } from "../_ui/lazy-part";
import { Menu } from "../_ui/menu";
import { useWhyNot } from "../_ui/no-right";
import { Pager } from "../_ui/pager";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { SUPPRESSION_COLUMNS } from "./columns";
import { ORIGINS, suppressionFilters, suppressionListInput, suppressionsWanted } from "./filters";
import { SuppressionsHeading } from "./heading";
import { RemoveButton } from "./remove-button";
import { ORIGIN_WORDS } from "./words";

const loadAdd = () => import("./add-suppressions");
const AddSuppressions = lazyPart(async () => (await loadAdd()).AddSuppressions);
const loadImport = () => import("./import-suppressions");
const ImportSuppressions = lazyPart(async () => (await loadImport()).ImportSuppressions);

/** Bounces and complaints come in by themselves; a hidden tab asks for nothing. */
const askAgainMs = 15_000;

/** The team's suppressions, and the ways onto the list and off it. */
export function SuppressionList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(suppressionFilters);
  const [opened, setOpened] = useState<"add" | "import" | null>(null);
  const why = useWhyNot()("suppressions:write", "suppress addresses");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.suppressions.list.queryOptions(suppressionListInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: askAgainMs,
    }),
  );
  const columns = useMemo(() => withRemoval(teamId), [teamId]);
  const change = (part: Partial<typeof filters>) => void setFilters({ ...part, after: null, before: null });
  const isFiltered = Boolean(filters.search || filters.origin);
  const close = () => setOpened(null);

  const actions = (
    <>
      <Menu
        label="More"
        items={[
          {
            label: "Import CSV…",
            Icon: FileUp,
            why,
            onSelect: () => setOpened("import"),
          },
          {
            label: "Export CSV",
            Icon: Download,
            href: `/console/suppressions/export?${new URLSearchParams({ team: teamId, ...suppressionsWanted(filters) })}`,
          },
        ]}
      />
      <ActButton
        whyNot={why}
        onPointerEnter={() => void loadAdd().catch(() => {})}
        onClick={() => setOpened("add")}
        className={`${buttonStyle.primary} h-10`}
      >
        <Plus className="size-4" aria-hidden="true" /> Suppress addresses
      </ActButton>
    </>
  );
  const empty = isFiltered ? (
    <NoMatch icon={Ban} title="No address matches" onClear={() => void setFilters(null)}>
      <p>An address is found by its first letters, or by all of them.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty
      icon={Ban}
      title="Nobody is suppressed"
      action={
        why === undefined ? (
          <button type="button" onClick={() => setOpened("import")} className={`${buttonStyle.plain} h-10`}>
            <FileUp className="size-4" aria-hidden="true" /> Import a list
          </button>
        ) : null
      }
    >
      <p>
        Addresses that bounce for good and readers who complain come here by themselves. If you move from
        another service, bring its list along.
      </p>
    </Empty>
  );

  return (
    <>
      <SuppressionsHeading actions={actions} />
      <FilterBar>
        <SearchField
          label="Address, or its first letters"
          placeholder="First letters of an address"
          value={filters.search ?? ""}
          onSettle={(search) => change({ search: search || null })}
        />
        <SelectFilter
          label="Origin"
          anyLabel="Any origin"
          value={filters.origin}
          options={ORIGINS.map((value) => ({ value, label: ORIGIN_WORDS[value].label }))}
          onChange={(origin) => change({ origin })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Suppressions"
          columns={columns}
          rows={data?.rows ?? NONE}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={empty}
        />
      </Fetched>
      {data ? (
        <Pager
          page={data}
          at={filters}
          onMove={(to) => void setFilters(to, { history: "push" })}
          hasOpening={false}
        />
      ) : null}
      <Suspense>
        {opened === "add" ? <AddSuppressions teamId={teamId} onClose={close} /> : null}
        {opened === "import" ? <ImportSuppressions teamId={teamId} onClose={close} /> : null}
      </Suspense>
    </>
  );
}

const NONE: never[] = [];

const withRemoval = (teamId: string): readonly Column<SuppressionRow>[] => [
  ...SUPPRESSION_COLUMNS,
  {
    id: "remove",
    header: "Take off",
    isHeaderHidden: true,
    isActive: true,
    width: "w-14",
    align: "right",
    phone: "plain",
    cell: (row) => <RemoveButton teamId={teamId} row={row} />,
  },
];
