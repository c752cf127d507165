"use client";

import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { useTRPC } from "../_ui/trpc";
import { type EmailFilters, listInput } from "./filters";

/** How far a page may be scrolled and still stand at its beginning. */
const atTopPx = 160;
const lookEveryMs = 5_000;

/**
 * Keeps the first page as it is while somebody reads it: with the pointer or the focus in it, something chosen, or the page
 * scrolled. `anchor` is then the mail that stays on top.
 */
export function useAnchor(
  list: RefObject<HTMLElement | null>,
  first: string | undefined,
  isHeld: boolean,
  isFirstPage: boolean,
): { anchor: string | null; release: () => void } {
  const [anchor, setAnchor] = useState<string | null>(null);
  // What stood on top when somebody asked for the newer mail: until that has come there is nothing to keep still.
  const left = useRef<string | null>(null);
  useEffect(() => {
    if (!isFirstPage) return setAnchor(null);
    const look = () => {
      if (left.current !== first) left.current = null;
      const reads =
        left.current === null &&
        (isHeld || window.scrollY > atTopPx || (list.current?.matches(":hover, :focus-within") ?? false));
      setAnchor((held) => (reads ? (held ?? first ?? null) : null));
    };
    look();
    const signs = ["pointerover", "focusin", "focusout", "scroll"] as const;
    for (const sign of signs) document.addEventListener(sign, look, { passive: true });
    return () => {
      for (const sign of signs) document.removeEventListener(sign, look);
    };
  }, [list, first, isHeld, isFirstPage]);
  return {
    anchor: isFirstPage ? anchor : null,
    release: () => {
      left.current = first ?? null;
      window.scrollTo({ top: 0 });
      setAnchor(null);
    },
  };
}

/** How many mails have come since the page is held: "3", or "25+". Null while there are none. */
export function useNewerCount(teamId: string, filters: EmailFilters, anchor: string | null): string | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.emails.list.queryOptions(
      { ...listInput(teamId, filters), before: anchor ?? "" },
      { enabled: anchor !== null, refetchInterval: lookEveryMs, staleTime: 0, retry: false },
    ),
  );
  if (anchor === null || !data || data.rows.length === 0) return null;
  return `${data.rows.length}${data.hasMore ? "+" : ""}`;
}
