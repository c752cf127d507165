"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useQueryStates } from "nuqs";
import { useRef } from "react";
import { PageGone } from "../_ui/empty";
import { faultOf } from "../_ui/fault";
import { FaultNote } from "../_ui/notes";
import { Pager } from "../_ui/pager";
import { askAgainAfterMs } from "../_ui/statuses";
import { cardStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { EmailFilterBar } from "./email-filters";
import { EmailHeading } from "./email-heading";
import { EmailRows } from "./email-rows";
import { FirstMailNote, NoMatchNote } from "./empty";
import { emailFilters, isFiltered, listInput, NO_FILTERS } from "./filters";
import { SkeletonRows } from "./list-frame";
import { LookedTo } from "./looked-to";
import { NewerNote } from "./newer-note";
import { useAnchor } from "./reading";
import { useSelection } from "./selection";
import { SelectionBar } from "./selection-bar";

/** How often a list at rest is looked at again, for mail that has come since. */
const restMs = 15_000;

/** The list, its filters and its pages. Live while something in it moves; a hidden tab asks for nothing. */
export function EmailList({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(emailFilters);
  const list = useRef<HTMLDivElement>(null);
  const isFirstPage = !filters.after && !filters.before;
  const base = listInput(teamId, filters);
  const held = useRef<string | null>(null);
  const upTo = isFirstPage ? held.current : null;
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.emails.list.queryOptions(upTo === null ? base : { ...base, upTo }, {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        askAgainAfterMs(
          state.data?.rows.map(({ status, createdAt }) => ({ status, since: createdAt })) ?? [],
        ) ?? restMs,
    }),
  );
  const shown = data?.rows.map(({ id }) => id) ?? [];
  const selection = useSelection(shown, JSON.stringify(base));
  const queries = useQueryClient();
  const { anchor, release } = useAnchor(list, shown[0], selection.ids.size > 0, isFirstPage);
  held.current = anchor;

  const content = () => {
    if (error && !data)
      return (
        <div className={cardStyle}>
          <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        </div>
      );
    if (!data) return <SkeletonRows />;
    if (data.rows.length === 0 && data.lookedTo) return null;
    if (data.rows.length === 0 && isFiltered(filters))
      return <NoMatchNote onClear={() => void setFilters(NO_FILTERS)} />;
    if (data.rows.length === 0 && isFirstPage) return <FirstMailNote publicUrl={publicUrl} />;
    if (data.rows.length === 0) return <PageGone />;
    return <EmailRows rows={data.rows} selection={selection} isStale={isPlaceholderData && upTo === null} />;
  };

  return (
    <>
      <EmailHeading teamId={teamId} filters={filters} />
      <EmailFilterBar teamId={teamId} filters={filters} onChange={setFilters} />
      <div ref={list}>
        {/* In the list: whoever points at the note still reads, or it would go away under the pointer. */}
        <NewerNote
          teamId={teamId}
          filters={filters}
          anchor={anchor}
          onShow={() => {
            release();
            void queries.invalidateQueries({ queryKey: trpc.emails.list.pathKey() });
          }}
        />
        {content()}
      </div>
      {data?.lookedTo && !filters.before ? (
        <LookedTo
          at={data.lookedTo.at}
          isEmpty={data.rows.length === 0}
          onGoOn={() => void setFilters({ after: data.lookedTo?.id ?? null }, { history: "push" })}
        />
      ) : null}
      {data && (data.rows.length > 0 || !isFirstPage) ? (
        <Pager page={data} at={filters} onMove={(to) => setFilters(to, { history: "push" })} />
      ) : null}
      <SelectionBar teamId={teamId} rows={data?.rows ?? []} selection={selection} />
    </>
  );
}
