"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { PageGone } from "../_ui/list/empty";
import { useListState } from "../_ui/list/list-page";
import { Pager } from "../_ui/list/pager";
import { Fetched } from "../_ui/page/fetched";
import { refetchIntervalMs } from "../_ui/text/statuses";
import { useTRPC } from "../_ui/trpc";
import { EmailFilterBar } from "./email-filters";
import { EmailHeading } from "./email-heading";
import { EmailRows, SkeletonRows } from "./email-rows";
import { FirstEmailNote, NoResultsNote, SearchLimit } from "./empty";
import { emailFilters, isFiltered, listInput } from "./filters";
import { NewEmailsNotice, useAnchor } from "./new-emails";
import { SelectionBar, useSelection } from "./selection";

/** Refetch interval when no listed status can change: only new emails appear. */
const idleRefetchMs = 15_000;

/** The list with its filters and pages. It refetches faster while statuses change. Hidden tabs do not refetch. */
export function EmailList({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const { filters, change, clear, move } = useListState(emailFilters);
  const list = useRef<HTMLDivElement>(null);
  const isFirstPage = !filters.after && !filters.before;
  const base = listInput(teamId, filters);
  const anchorRef = useRef<string | null>(null);
  const upTo = isFirstPage ? anchorRef.current : null;
  const query = useQuery(
    trpc.emails.list.queryOptions(upTo === null ? base : { ...base, upTo }, {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        refetchIntervalMs(
          state.data?.rows.map(({ status, created_at }) => ({ status, since: created_at })) ?? [],
        ) ?? idleRefetchMs,
    }),
  );
  const { data, isPlaceholderData } = query;
  const rowIds = data?.rows.map(({ id }) => id) ?? [];
  const selection = useSelection(rowIds, JSON.stringify(base));
  const queries = useQueryClient();
  const { anchor, release } = useAnchor(list, rowIds[0], selection.ids.size > 0, isFirstPage);
  anchorRef.current = anchor;

  const content = () => {
    if (!data) return <SkeletonRows />;
    if (data.rows.length === 0 && data.scannedTo) return null;
    if (data.rows.length === 0 && isFiltered(filters)) return <NoResultsNote onClear={clear} />;
    if (data.rows.length === 0 && isFirstPage) return <FirstEmailNote publicUrl={publicUrl} />;
    if (data.rows.length === 0) return <PageGone />;
    return <EmailRows rows={data.rows} selection={selection} isStale={isPlaceholderData && upTo === null} />;
  };

  return (
    <>
      <EmailHeading teamId={teamId} filters={filters} />
      <EmailFilterBar teamId={teamId} filters={filters} change={change} clear={clear} />
      <div ref={list}>
        {/* Inside the list element: the pointer on the notice counts as reading, so the notice does not disappear. */}
        <NewEmailsNotice
          teamId={teamId}
          filters={filters}
          anchor={anchor}
          onShow={() => {
            release();
            void queries.invalidateQueries({ queryKey: trpc.emails.list.pathKey() });
          }}
        />
        <Fetched by={query}>{content()}</Fetched>
      </div>
      {data?.scannedTo && !filters.before ? (
        <SearchLimit
          at={data.scannedTo.at}
          isEmpty={data.rows.length === 0}
          onContinue={() => move({ after: data.scannedTo?.id ?? null, before: null })}
        />
      ) : null}
      {data && (data.rows.length > 0 || !isFirstPage) ? (
        <Pager page={data} at={filters} onMove={move} />
      ) : null}
      <SelectionBar teamId={teamId} rows={data?.rows ?? []} selection={selection} />
    </>
  );
}
