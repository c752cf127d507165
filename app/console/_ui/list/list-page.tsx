"use client";

import { keepPreviousData, type UseQueryResult } from "@tanstack/react-query";
import type { LucideIcon } from "lucide-react";
import type { useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { Fetched } from "../page/fetched";
import { DataTable, type TableProps } from "./data-table";
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

type Props<Row extends { id: string }> = Pick<TableProps<Row>, "label" | "columns" | "rowHref" | "onOpen"> & {
  list: Pick<
    UseQueryResult<{ rows: readonly Row[]; hasMore: boolean }, unknown>,
    "data" | "error" | "refetch" | "isPlaceholderData"
  >;
  state: Pick<ReturnType<typeof useListState<typeof CURSOR>>, "filters" | "isFiltered" | "clear" | "move">;
  /** The controls of the filter bar. */
  filterBar?: ReactNode;
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
