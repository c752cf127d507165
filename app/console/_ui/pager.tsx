"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { buttonStyle } from "./styles";

/** Where a page of a list begins: after one of its entries, or before one; at the newest where both are null. */
export type PageStart = { after: string | null; before: string | null };

type Props = {
  page: { rows: readonly { id: string }[]; hasMore: boolean };
  at: PageStart;
  /** Called with where to begin; a step back in the browser's history should undo it. */
  onMove: (to: PageStart) => unknown;
  /** Whether its rows open anything. */
  hasOpening?: boolean;
};

/** Older and newer. `hasMore` speaks of the direction in which the page was reached; the other one is where we came from. */
export function Pager({ page: { rows, hasMore }, at, onMove, hasOpening = true }: Props) {
  const cameFromOlder = at.before !== null;
  const hasOlder = cameFromOlder || hasMore;
  const hasNewer = cameFromOlder ? hasMore : at.after !== null;
  // The only page needs no way to others; the keys alone are not worth a line.
  if (!hasOlder && !hasNewer && at.after === null) return null;
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center justify-end gap-2">
      <p className="mr-auto text-soft text-xs max-md:hidden">
        <Key>j</Key> <Key>k</Key> move{" "}
        {hasOpening ? (
          <>
            <Key>Enter</Key> open{" "}
          </>
        ) : null}
        <Key>?</Key> all keys
      </p>
      {hasNewer || at.after ? (
        <button
          type="button"
          className={`${buttonStyle.quiet} h-9`}
          onClick={() => onMove({ after: null, before: null })}
        >
          Newest
        </button>
      ) : null}
      <button
        type="button"
        disabled={!hasNewer}
        className={`${buttonStyle.plain} h-9`}
        onClick={() => onMove({ after: null, before: rows[0]?.id ?? null })}
      >
        <ChevronLeft className="size-4" aria-hidden="true" /> Newer
      </button>
      <button
        type="button"
        disabled={!hasOlder}
        className={`${buttonStyle.plain} h-9`}
        onClick={() => onMove({ after: rows.at(-1)?.id ?? null, before: null })}
      >
        Older <ChevronRight className="size-4" aria-hidden="true" />
      </button>
    </nav>
  );
}

/** A key of the keyboard. */
export function Key({ children }: { children: ReactNode }) {
  return (
    <kbd className="mr-0.5 inline-grid min-w-5 place-items-center rounded border border-line bg-sunk px-1.5 py-0.5 font-mono text-[0.6875rem] text-soft">
      {children}
    </kbd>
  );
}
