"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQueryStates } from "nuqs";
import { faultOf } from "../_ui/fault";
import { FaultNote } from "../_ui/notes";
import { Pager } from "../_ui/pager";
import { askAgainAfterMs } from "../_ui/statuses";
import { cardStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { EmailFilterBar } from "./email-filters";
import { EmailRowLink } from "./email-row";
import { FirstMailNote, NoMatchNote } from "./empty";
import { emailFilters, isFiltered, listInput } from "./filters";
import { ColumnNames, ListHeading, SkeletonRows } from "./list-frame";

/** How often a list at rest is looked at again, for mail that has come since. */
const restMs = 15_000;

/** The list, its filters and its pages. Live while something in it moves; a hidden tab asks for nothing. */
export function EmailList({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(emailFilters);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.emails.list.queryOptions(listInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        askAgainAfterMs(
          state.data?.rows.map(({ status, createdAt }) => ({ status, since: createdAt })) ?? [],
        ) ?? restMs,
    }),
  );
  const isFirstPage = !filters.after && !filters.before;

  const content = () => {
    if (error && !data)
      return (
        <div className={cardStyle}>
          <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        </div>
      );
    if (!data) return <SkeletonRows />;
    if (data.rows.length === 0 && isFiltered(filters))
      return <NoMatchNote onClear={() => void setFilters(null)} />;
    if (data.rows.length === 0 && isFirstPage) return <FirstMailNote publicUrl={publicUrl} />;
    return (
      <div className={`${cardStyle} overflow-hidden ${isPlaceholderData ? "opacity-60" : ""}`}>
        <ColumnNames />
        <ul aria-label="Emails" className="divide-y divide-line">
          {data.rows.map((row) => (
            <EmailRowLink key={row.id} row={row} />
          ))}
        </ul>
      </div>
    );
  };

  return (
    <>
      <ListHeading />
      <EmailFilterBar filters={filters} onChange={setFilters} />
      {content()}
      {data && (data.rows.length > 0 || !isFirstPage) ? (
        <Pager page={data} at={filters} onMove={(to) => setFilters(to, { history: "push" })} />
      ) : null}
    </>
  );
}
