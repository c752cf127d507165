"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowUp, Download, RotateCcw } from "lucide-react";
import { type Dispatch, type RefObject, type SetStateAction, useEffect, useRef, useState } from "react";
import { Button } from "../_ui/form/button";
import { formatNumber } from "../_ui/format-number";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { useListState } from "../_ui/list/list-page";
import { Pager } from "../_ui/list/pager";
import { SkeletonTable } from "../_ui/list/skeleton";
import { usePolling } from "../_ui/live";
import { Fetched } from "../_ui/page/fetched";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { TextLink } from "../_ui/page/page-link";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle, cardStyle } from "../_ui/styles";
import { useCan } from "../_ui/team";
import { refetchIntervalMs } from "../_ui/text/statuses";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { EmailFilterBar } from "./email-filters";
import { EmailRows, useSelection } from "./email-rows";
import { type EmailListState, emailFilters, isRetryable, statusesOf } from "./filters";

const SelectionBar = lazyDialog(async () => (await import("./bulk-actions")).SelectionBar);
const SendTest = lazyDialog(() => import("../overview/setup/send-test").then(({ SendTest }) => SendTest));

/** Refetch interval when no listed status can change: only new emails appear. */
const idleRefetchMs = 15_000;

/**
 * The list with its filters and pages. It refetches faster while statuses change. Hidden tabs do not refetch.
 */
export function EmailList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const polling = usePolling();
  const state = useListState(emailFilters);
  const { filters, input, applied, isFiltered, clear, move } = state;
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
    if (!data) return <SkeletonTable />;
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
        state={state}
        isEmpty={isFirstPage && data?.rows.length === 0 && data.scannedTo === null}
      />
      <EmailFilterBar teamId={teamId} of={state} />
      <div ref={list}>
        {/* Inside the list element, so that a pointer on the notice keeps it. */}
        <NewEmailsNotice
          teamId={teamId}
          applied={applied}
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
            <TextLink to="/console" className={`${buttonStyle.plain} h-10`}>
              Code examples
            </TextLink>
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

const RetryMatching = lazyDialog(async () => (await import("./bulk-actions")).RetryMatching);

type Props = {
  teamId: string;
  state: EmailListState;
  /** No email matches the filters. */
  isEmpty: boolean;
};

/** The heading with the actions for all emails that match the filters. */
function EmailHeading({ teamId, state, isEmpty }: Props) {
  const [isOpen, setOpen] = useState(false);
  const statuses = statusesOf(state.filters);
  const disabledReason =
    useDisabledReason()("emails:send", "retry emails") ??
    (statuses.length > 0 && !statuses.some(isRetryable)
      ? `Emails with the status "${statuses.join('" or "')}" cannot be retried. Choose another status.`
      : state.isFiltered
        ? undefined
        : "Set a filter first, for example the status “Bounced”.");
  const query = new URLSearchParams({ team: teamId, ...state.applied });
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
                <Download className="size-4" /> Export CSV
              </a>
            )}
          </>
        }
      />
      {isOpen ? <RetryMatching teamId={teamId} state={state} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Up to this scroll position the page counts as not scrolled. */
const atTopPx = 160;
const newerRefetchMs = 5_000;

/**
 * Holds the first page in place while the user reads it: the pointer or the focus is in the list, rows are
 * selected, or the page is scrolled. The anchor is then the id of the email that stays on top; otherwise it
 * is null. It is a state of the caller, whose query depends on it. Returns what releases it.
 */
function useAnchor(
  list: RefObject<HTMLElement | null>,
  first: string | undefined,
  hasSelection: boolean,
  isFirstPage: boolean,
  setAnchor: Dispatch<SetStateAction<string | null>>,
): () => void {
  // The top email when the user asked for newer ones. Until they arrive, the list is not held.
  const released = useRef<string | null>(null);
  useEffect(() => {
    if (!isFirstPage) return setAnchor(null);
    const update = () => {
      if (released.current !== first) released.current = null;
      const isReading =
        released.current === null &&
        (hasSelection ||
          window.scrollY > atTopPx ||
          (list.current?.matches(":hover, :focus-within") ?? false));
      setAnchor((current) => (isReading ? (current ?? first ?? null) : null));
    };
    update();
    const listening = new AbortController();
    for (const event of ["pointerover", "focusin", "focusout", "scroll"])
      document.addEventListener(event, update, { passive: true, signal: listening.signal });
    return () => listening.abort();
  }, [list, first, hasSelection, isFirstPage, setAnchor]);
  return () => {
    released.current = first ?? null;
    window.scrollTo({ top: 0 });
    setAnchor(null);
  };
}

type NoticeProps = {
  teamId: string;
  applied: EmailListState["applied"];
  anchor: string | null;
  onShow: () => void;
};

/**
 * A notice with the number of new emails while the list is held in place. The user clicks it to show them. It
 * neither covers nor shifts the list.
 */
function NewEmailsNotice({ teamId, applied, anchor, onShow }: NoticeProps) {
  const trpc = useTRPC();
  const polling = usePolling();
  const { data } = useQuery(
    trpc.emails.list.queryOptions(
      { team: teamId, ...applied, before: anchor ?? "" },
      { enabled: anchor !== null, refetchInterval: polling(newerRefetchMs), staleTime: 0, retry: false },
    ),
  );
  const count = anchor === null ? 0 : (data?.rows.length ?? 0);
  return (
    <div aria-live="polite" className="pointer-events-none sticky top-2 z-10 -mb-9 flex h-9 justify-center">
      {count === 0 ? null : (
        <Button
          tone="primary"
          isSmall
          Icon={ArrowUp}
          onClick={onShow}
          className="pointer-events-auto -translate-y-3 rounded-full text-xs shadow-md"
        >
          {`${formatNumber(count)}${data?.hasMore ? "+" : ""} new`}
        </Button>
      )}
    </div>
  );
}
