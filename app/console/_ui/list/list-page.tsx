"use client";

import { keepPreviousData } from "@tanstack/react-query";
import type { LucideIcon } from "lucide-react";
import type { useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { Fetched } from "../page/fetched";
import { type Column, DataTable } from "./data-table";
import { Empty, NoMatch, PageGone } from "./empty";
import { FilterBar } from "./filter-bar";
import { activeFilters, type CURSOR } from "./list-filters";
import { Pager, type PageStart } from "./pager";
import { useSearch } from "./use-search";

/**
 * Query options of a list: it keeps the previous page while the next one loads. Hidden tabs do not refetch.
 */
export const listOptions = (refetchInterval: number | false = false) => ({
  placeholderData: keepPreviousData,
  refetchInterval,
});

/**
 * The URL parameters of a list, and how to change them. `parsers` includes `CURSOR`. `input` is what is set,
 * for the query, and `applied` the filters among it; `change` returns to the newest page; `clear` removes
 * filters and cursor.
 */
export function useListState<Parsers extends typeof CURSOR & Parameters<typeof useQueryStates>[0]>(
  parsers: Parsers,
) {
  const [filters, setFilters] = useSearch(parsers);
  const set = setFilters as (part: object | null, options?: { history: "push" }) => void;
  const input = activeFilters(filters);
  const { after: _, before: __, ...applied } = input;
  return {
    filters,
    input,
    applied,
    isFiltered: Object.keys(applied).length > 0,
    change: (part: Partial<typeof filters>) => set({ ...part, after: null, before: null }),
    clear: () => set(null),
    move: (to: PageStart) => set(to, { history: "push" }),
  };
}

type Props<Row extends { id: string }> = {
  /** What the list contains: "API keys". */
  label: string;
  columns: readonly Column<Row>[];
  list: {
    data: { rows: readonly Row[]; hasMore: boolean } | undefined;
    error: unknown;
    refetch: () => unknown;
    isPlaceholderData: boolean;
  };
  state: {
    filters: PageStart;
    isFiltered: boolean;
    clear(): void;
    move(to: PageStart): void;
  };
  /** The controls of the filter bar. */
  filterBar?: ReactNode;
  /** The path of a row's page, without a team; `onOpen` is the alternative for rows that open in place. */
  rowHref?: (row: Row) => string | null;
  onOpen?: (row: Row) => void;
  /** Shown when the team has no entries: what the list will contain, and the first step. */
  empty: { icon: LucideIcon; title: string; text: ReactNode; action?: ReactNode };
  /** Shown when filters match nothing. */
  noMatch?: { icon?: LucideIcon; title: string; text: ReactNode; clears?: string };
};

/** A paged list below its heading: filters, table, empty states and pager. */
export function ListPage<Row extends { id: string }>(props: Props<Row>) {
  const { label, columns, list, state, filterBar, rowHref, onOpen, empty, noMatch } = props;
  const { data, isPlaceholderData } = list;
  const { filters, isFiltered, clear, move } = state;
  return (
    <>
      {filterBar ? <FilterBar>{filterBar}</FilterBar> : null}
      <Fetched by={list}>
        <DataTable
          label={label}
          columns={columns}
          rows={data?.rows ?? []}
          {...(rowHref && { rowHref })}
          {...(onOpen && { onOpen })}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={
            isFiltered && noMatch ? (
              <NoMatch icon={empty.icon} {...noMatch} onClear={clear}>
                <p>{noMatch.text}</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={empty.icon} title={empty.title} action={empty.action}>
                <p>{empty.text}</p>
              </Empty>
            )
          }
        />
      </Fetched>
      {data ? (
        <Pager
          page={data}
          at={filters}
          onMove={move}
          hasOpening={rowHref !== undefined || onOpen !== undefined}
        />
      ) : null}
    </>
  );
}
