"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../form/button";

/**
 * Cursor of a page: the id of the entry that it starts after or ends before. Both null means the newest page.
 */
export type PageStart = { after: string | null; before: string | null };

type Props = {
  page: { rows: readonly { id: string }[]; hasMore: boolean };
  at: PageStart;
  /**
   * Called with the new cursor. Push a history entry, so that the browser's back button returns to this page.
   */
  onMove: (to: PageStart) => unknown;
  /** Whether rows can be opened. */
  hasOpening?: boolean;
};

/**
 * Buttons for older and newer pages. `hasMore` refers to the paging direction; the opposite direction always
 * has a page.
 */
export function Pager({ page: { rows, hasMore }, at, onMove, hasOpening = true }: Props) {
  const cameFromOlder = at.before !== null;
  const hasOlder = cameFromOlder || hasMore;
  const hasNewer = cameFromOlder ? hasMore : at.after !== null;
  // A list with a single page has no pager. The shortcut hints alone do not justify one.
  if (!hasOlder && !hasNewer && at.after === null) return null;
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center print:hidden justify-end gap-2">
      <p className="mr-auto text-soft text-xs max-md:hidden">
        <Key>j</Key> <Key>k</Key> move{" "}
        {hasOpening ? (
          <>
            <Key>Enter</Key> open{" "}
          </>
        ) : null}
        <Key>?</Key> all shortcuts
      </p>
      {hasNewer || at.after ? (
        <Button tone="quiet" isSmall onClick={() => onMove({ after: null, before: null })}>
          Newest
        </Button>
      ) : null}
      <Button
        isSmall
        disabled={!hasNewer}
        onClick={() => onMove({ after: null, before: rows[0]?.id ?? null })}
      >
        <ChevronLeft className="size-4" /> Newer
      </Button>
      <Button
        isSmall
        disabled={!hasOlder}
        onClick={() => onMove({ after: rows.at(-1)?.id ?? null, before: null })}
      >
        Older <ChevronRight className="size-4" />
      </Button>
    </nav>
  );
}

/** A key of the keyboard. */
export const Key = ({ children }: { children: ReactNode }) => (
  <kbd className="mr-0.5 inline-grid min-w-5 place-items-center rounded border border-line bg-sunk px-1.5 py-0.5 font-mono text-[0.6875rem] text-soft">
    {children}
  </kbd>
);
