"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import type { EmailRow } from "#server/trpc/email-views";
import { buttonStyle } from "../_ui/styles";
import type { EmailFilters } from "./filters";

type Props = {
  page: { rows: EmailRow[]; hasMore: boolean };
  filters: EmailFilters;
  onMove: (change: Partial<EmailFilters>, options: { history: "push" }) => unknown;
};

/** Older and newer. `hasMore` speaks of the direction in which the page was reached; the other one is where we came from. */
export function Pager({ page, filters, onMove }: Props) {
  const { rows, hasMore } = page;
  const cameFromOlder = filters.before !== null;
  const hasOlder = cameFromOlder || hasMore;
  const hasNewer = cameFromOlder ? hasMore : filters.after !== null;
  const go = (after: string | undefined, before: string | undefined) =>
    void onMove({ after: after ?? null, before: before ?? null }, { history: "push" });
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center justify-end gap-2">
      <p className="mr-auto text-soft text-xs max-md:hidden">
        <Key>/</Key> search <Key>j</Key> <Key>k</Key> move <Key>Enter</Key> open
      </p>
      {hasNewer || filters.after ? (
        <button type="button" className={`${buttonStyle.quiet} h-9`} onClick={() => go(undefined, undefined)}>
          Newest
        </button>
      ) : null}
      <button
        type="button"
        disabled={!hasNewer}
        className={`${buttonStyle.plain} h-9`}
        onClick={() => go(undefined, rows[0]?.id)}
      >
        <ChevronLeft className="size-4" aria-hidden="true" /> Newer
      </button>
      <button
        type="button"
        disabled={!hasOlder}
        className={`${buttonStyle.plain} h-9`}
        onClick={() => go(rows.at(-1)?.id, undefined)}
      >
        Older <ChevronRight className="size-4" aria-hidden="true" />
      </button>
    </nav>
  );
}

function Key({ children }: { children: string }) {
  return (
    <kbd className="mr-0.5 rounded border border-line bg-sunk px-1.5 py-0.5 font-mono text-[0.6875rem]">
      {children}
    </kbd>
  );
}
