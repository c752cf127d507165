"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Ban, Download, FileUp, Plus } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo, useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { Menu } from "../_ui/dialog/menu";
import { ActionButton } from "../_ui/form/action-button";
import { type Column, DataTable } from "../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { FilterBar, SearchField, SelectFilter } from "../_ui/list/filter-bar";
import { Pager } from "../_ui/list/pager";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { SUPPRESSION_COLUMNS } from "./columns";
import { ORIGINS, suppressionFilters, suppressionListInput, suppressionQuery } from "./filters";
import { SuppressionsHeading } from "./heading";
import { ORIGIN_LABELS } from "./labels";
import { RemoveButton } from "./remove-button";

const loadAdd = () => import("./add-suppressions");
const AddSuppressions = lazyPart(async () => (await loadAdd()).AddSuppressions);
const loadImport = () => import("./import-suppressions");
const ImportSuppressions = lazyPart(async () => (await loadImport()).ImportSuppressions);

/** Bounces and complaints add addresses at any time. A hidden tab does not refetch. */
const refetchMs = 15_000;

/** The suppression list of the team, with add, import, export and remove. */
export function SuppressionList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(suppressionFilters);
  const [opened, setOpened] = useState<"add" | "import" | null>(null);
  const why = useDisabledReason()("suppressions:write", "suppress addresses");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.suppressions.list.queryOptions(suppressionListInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: refetchMs,
    }),
  );
  const columns = useMemo(() => withRemoval(teamId), [teamId]);
  const change = (part: Partial<typeof filters>) => void setFilters({ ...part, after: null, before: null });
  const isFiltered = Boolean(filters.search || filters.origin);
  const close = () => setOpened(null);

  const actions = (
    <>
      <Menu
        label="More actions"
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
            href: `/console/suppressions/export?${new URLSearchParams({ team: teamId, ...suppressionQuery(filters) })}`,
          },
        ]}
      />
      <ActionButton
        disabledReason={why}
        onPointerEnter={() => void loadAdd().catch(() => {})}
        onClick={() => setOpened("add")}
        className={`${buttonStyle.primary} h-10`}
      >
        <Plus className="size-4" aria-hidden="true" /> Suppress addresses
      </ActionButton>
    </>
  );
  const empty = isFiltered ? (
    <NoMatch icon={Ban} title="No results" onClear={() => void setFilters(null)}>
      <p>The search matches the start of an address.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty
      icon={Ban}
      title="No suppressed addresses"
      action={
        why === undefined ? (
          <button type="button" onClick={() => setOpened("import")} className={`${buttonStyle.plain} h-10`}>
            <FileUp className="size-4" aria-hidden="true" /> Import list
          </button>
        ) : null
      }
    >
      <p>
        Hard bounces and complaints are added automatically. If you move from another service, import its
        list.
      </p>
    </Empty>
  );

  return (
    <>
      <SuppressionsHeading actions={actions} />
      <FilterBar>
        <SearchField
          label="Search by address"
          placeholder="Start of an address"
          value={filters.search ?? ""}
          onSettle={(search) => change({ search: search || null })}
        />
        <SelectFilter
          label="Origin"
          anyLabel="Any origin"
          value={filters.origin}
          options={ORIGINS.map((value) => ({ value, label: ORIGIN_LABELS[value].label }))}
          onChange={(origin) => change({ origin })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Suppressions"
          columns={columns}
          rows={data?.rows ?? NO_ROWS}
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

const NO_ROWS: never[] = [];

const withRemoval = (teamId: string): readonly Column<SuppressionRow>[] => [
  ...SUPPRESSION_COLUMNS,
  {
    id: "remove",
    header: "Remove",
    isHeaderHidden: true,
    isActive: true,
    width: "w-14",
    align: "right",
    phone: "plain",
    cell: (row) => <RemoveButton teamId={teamId} row={row} />,
  },
];
