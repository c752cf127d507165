"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, RotateCcw } from "lucide-react";
import Link from "next/link";
import { useRef, useState } from "react";
import { Button } from "../_ui/form/button";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { useListState } from "../_ui/list/list-page";
import { Pager } from "../_ui/list/pager";
import { usePolling } from "../_ui/live";
import { Fetched } from "../_ui/page/fetched";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle, cardStyle } from "../_ui/styles";
import { useCan, useConsoleHref } from "../_ui/team";
import { refetchIntervalMs } from "../_ui/text/statuses";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { SkeletonRows } from "./email-columns";
import { EmailFilterBar } from "./email-filters";
import { EmailRows, useSelection } from "./email-rows";
import { type EmailFilters, emailFilters, filterInput, isFiltered, isRetryable, statusesOf } from "./filters";
import { NewEmailsNotice, useAnchor } from "./new-emails";

const SelectionBar = lazyDialog(async () => (await import("./selection-bar")).SelectionBar);
const SendTest = lazyDialog(() => import("../overview/setup/send-test").then(({ SendTest }) => SendTest));

/** Refetch interval when no listed status can change: only new emails appear. */
const idleRefetchMs = 15_000;

/**
 * The list with its filters and pages. It refetches faster while statuses change. Hidden tabs do not refetch.
 */
export function EmailList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const polling = usePolling();
  const { filters, input, isFiltered, change, clear, move } = useListState(emailFilters);
  const list = useRef<HTMLDivElement>(null);
  const [isTesting, setTesting] = useState(false);
  const isFirstPage = !filters.after && !filters.before;
  const base = { team: teamId, ...input };
  const [anchor, setAnchor] = useState<string | null>(null);
  const upTo = isFirstPage ? anchor : null;
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
  const release = useAnchor(list, rowIds[0], selection.ids.size > 0, isFirstPage, setAnchor);

  const content = () => {
    if (!data) return <SkeletonRows />;
    if (data.rows.length === 0 && data.scannedTo) return null;
    if (data.rows.length === 0 && isFiltered) return <NoResultsNote onClear={clear} />;
    if (data.rows.length === 0 && isFirstPage) return <FirstEmailNote onTest={() => setTesting(true)} />;
    if (data.rows.length === 0) return <PageGone />;
    return <EmailRows rows={data.rows} selection={selection} isStale={isPlaceholderData && upTo === null} />;
  };

  return (
    <>
      <EmailHeading
        teamId={teamId}
        filters={filters}
        isEmpty={isFirstPage && data?.rows.length === 0 && data.scannedTo === null}
      />
      <EmailFilterBar {...{ teamId, filters, change, clear }} />
      <div ref={list}>
        {/* Inside the list element, so that a pointer on the notice keeps it. */}
        <NewEmailsNotice
          teamId={teamId}
          filters={filters}
          anchor={upTo}
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
      {isTesting ? <SendTest teamId={teamId} onClose={() => setTesting(false)} /> : null}
      {selection.isUsed ? (
        <SelectionBar teamId={teamId} rows={data?.rows ?? []} selection={selection} />
      ) : null}
    </>
  );
}

/** The empty state before the first email: it can be sent from here. */
function FirstEmailNote({ onTest }: { onTest: () => void }) {
  const hrefOf = useConsoleHref();
  const can = useCan();
  return (
    <Empty
      title="No emails yet"
      action={
        can("emails:send") ? (
          <>
            <Button tone="primary" onClick={onTest}>
              Send a test email
            </Button>
            <Link href={hrefOf("/console")} className={`${buttonStyle.plain} h-10`}>
              Code examples
            </Link>
          </>
        ) : null
      }
    >
      <p>
        Emails appear here as soon as they are accepted. A test email to delivered@backstamp.test needs no
        SMTP server.
      </p>
    </Empty>
  );
}

const NoResultsNote = ({ onClear }: { onClear: () => void }) => (
  <NoMatch title="No matching emails" onClear={onClear}>
    <p>
      Search by address, @domain, words of the subject, ID or tag:name:value. For recipients or senders only:
      to:address, from:address.
    </p>
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

const RetryMatching = lazyDialog(async () => (await import("./retry-matching")).RetryMatching);

type Props = {
  teamId: string;
  filters: EmailFilters;
  /** No email matches the filters. */
  isEmpty: boolean;
};

/** The heading with the actions for all emails that match the filters. */
function EmailHeading({ teamId, filters, isEmpty }: Props) {
  const [isOpen, setOpen] = useState(false);
  const statuses = statusesOf(filters);
  const disabledReason =
    useDisabledReason()("emails:send", "retry emails") ??
    (statuses.length > 0 && !statuses.some(isRetryable)
      ? `Emails with the status "${statuses.join('" or "')}" cannot be retried. Choose another status.`
      : isFiltered(filters)
        ? undefined
        : "Set a filter first, for example the status “Bounced”.");
  const query = new URLSearchParams({ team: teamId, ...filterInput(filters) });
  return (
    <>
      <PageHeading
        title="Emails"
        actions={
          <>
            <Button
              isSmall
              Icon={RotateCcw}
              disabledReason={disabledReason}
              title="Retry failed and deferred emails that match the filters. Bounced emails need the status filter “Bounced”."
              onPointerEnter={RetryMatching.preload}
              onFocus={RetryMatching.preload}
              onClick={() => setOpen(true)}
            >
              Retry emails…
            </Button>
            {isEmpty ? (
              <Button isSmall Icon={Download} disabledReason="There are no emails to export.">
                Export CSV
              </Button>
            ) : (
              <a
                href={`/console/emails/export?${query}`}
                title="Export all emails that match the filters"
                className={`${buttonStyle.plain} h-9`}
              >
                <Download className="size-4" aria-hidden="true" /> Export CSV
              </a>
            )}
          </>
        }
      />
      {isOpen ? <RetryMatching teamId={teamId} filters={filters} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
