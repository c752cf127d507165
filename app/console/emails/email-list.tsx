"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { Button } from "../_ui/form/button";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { useListState } from "../_ui/list/list-page";
import { Pager } from "../_ui/list/pager";
import { usePolling } from "../_ui/live";
import { Fetched } from "../_ui/page/fetched";
import { cardStyle } from "../_ui/styles";
import { CopyButton } from "../_ui/text/copy-button";
import { FIRST_EMAIL, formatCurl } from "../_ui/text/send-example";
import { refetchIntervalMs } from "../_ui/text/statuses";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { EmailFilterBar } from "./email-filters";
import { EmailHeading } from "./email-heading";
import { EmailRows, SkeletonRows } from "./email-rows";
import { emailFilters, isFiltered, listInput } from "./filters";
import { NewEmailsNotice, useAnchor } from "./new-emails";
import { SelectionBar, useSelection } from "./selection";

/** Refetch interval when no listed status can change: only new emails appear. */
const idleRefetchMs = 15_000;

type EmailListProps = FirstEmailProps & { teamId: string };

/** The list with its filters and pages. It refetches faster while statuses change. Hidden tabs do not refetch. */
export function EmailList({ teamId, publicUrl, cli }: EmailListProps) {
  const trpc = useTRPC();
  const polling = usePolling();
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
        polling(
          refetchIntervalMs(
            state.data?.rows.map(({ status, created_at }) => ({ status, since: created_at })) ?? [],
          ) ?? idleRefetchMs,
        ),
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
    if (data.rows.length === 0 && isFirstPage) return <FirstEmailNote publicUrl={publicUrl} cli={cli} />;
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

type FirstEmailProps = { publicUrl: string; cli: string };

/** The empty state before the first email, with the command that sends it. */
function FirstEmailNote({ publicUrl, cli }: FirstEmailProps) {
  const curl = formatCurl(publicUrl, FIRST_EMAIL);
  return (
    <Empty title="No emails yet">
      <p className="max-w-prose">
        Send the first one to <code className="font-mono text-ink">delivered@backstamp.test</code>. This test
        address works without an SMTP server. The email appears in this list automatically.
      </p>
      <div className="flex w-full max-w-2xl items-start gap-2 rounded-lg bg-sunk p-3 text-left">
        <pre className="min-w-0 grow whitespace-pre-wrap break-words font-mono text-ink text-xs leading-5">
          {curl}
        </pre>
        <CopyButton text={curl} label="Copy command" />
      </div>
      <p className="max-w-prose text-xs leading-5">
        The startup output contains an API key or the path of the file that has it. To create another key:
        <code className="block font-mono">{cli} key create --name first --scopes emails:send</code>
      </p>
    </Empty>
  );
}

const NoResultsNote = ({ onClear }: { onClear: () => void }) => (
  <NoMatch title="No matching emails" onClear={onClear}>
    <p>Search by address, @domain, words of the subject, ID or tag:name=value.</p>
  </NoMatch>
);

type SearchLimitProps = { at: string; isEmpty: boolean; onContinue: () => void };

/** Shows how far a search went before it reached its limit, with a button to continue it. */
const SearchLimit = ({ at, isEmpty, onContinue }: SearchLimitProps) => (
  <div
    role="status"
    className={`flex flex-wrap items-center justify-between gap-3 px-4 ${isEmpty ? `${cardStyle} py-10` : "mt-4"}`}
  >
    <p className="text-soft">
      {isEmpty ? "No results" : "No more results"} so far. Oldest email searched:{" "}
      <When at={at} className="text-ink" />. Older emails exist.
    </p>
    <Button isSmall onClick={onContinue}>
      Search older emails
    </Button>
  </div>
);
