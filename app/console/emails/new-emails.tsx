"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import { type Dispatch, type RefObject, type SetStateAction, useEffect, useRef } from "react";
import { Button } from "../_ui/form/button";
import { formatNumber } from "../_ui/format-number";
import { usePolling } from "../_ui/live";
import { useTRPC } from "../_ui/trpc";
import { type EmailFilters, filterInput } from "./filters";

/** Up to this scroll position the page counts as not scrolled. */
const atTopPx = 160;
const newerRefetchMs = 5_000;

/**
 * Holds the first page in place while the user reads it: the pointer or the focus is in the list, rows are
 * selected, or the page is scrolled. The anchor is then the id of the email that stays on top; otherwise it
 * is null. It is a state of the caller, whose query depends on it. Returns what releases it.
 */
export function useAnchor(
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
    const events = ["pointerover", "focusin", "focusout", "scroll"] as const;
    for (const event of events) document.addEventListener(event, update, { passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, update);
    };
  }, [list, first, hasSelection, isFirstPage, setAnchor]);
  return () => {
    released.current = first ?? null;
    window.scrollTo({ top: 0 });
    setAnchor(null);
  };
}

type Props = { teamId: string; filters: EmailFilters; anchor: string | null; onShow: () => void };

/**
 * A notice with the number of new emails while the list is held in place. The user clicks it to show them. It
 * neither covers nor shifts the list.
 */
export function NewEmailsNotice({ teamId, filters, anchor, onShow }: Props) {
  const trpc = useTRPC();
  const polling = usePolling();
  const { data } = useQuery(
    trpc.emails.list.queryOptions(
      { team: teamId, ...filterInput(filters), before: anchor ?? "" },
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
