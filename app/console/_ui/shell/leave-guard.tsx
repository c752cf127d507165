"use client";

import { useRouter } from "next/navigation";
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { loadPage } from "../connection/connection";
import { lazyDialog } from "../page/lazy-part";

const Confirm = lazyDialog(async () => (await import("../dialog/confirm")).Confirm);

/** What is asked before the page is left: "Leave without saving?", and what would be lost. */
type Question = { title: string; text: string };
type Guard = { question: Question; release: () => void };
type LeaveGuard = {
  /** Returns what removes the guard. */
  guard: (question: Question) => () => void;
  leave: (go: () => void) => void;
};

const LeaveGuardContext = createContext<LeaveGuard>({ guard: () => () => {}, leave: (go) => go() });

/**
 * Asks before the user leaves a page that has something to lose: in a dialog of the console for links,
 * commands and keyboard shortcuts, and in that of the browser before the tab is closed or reloaded.
 */
export function LeaveGuard({ children }: { children: ReactNode }) {
  const router = useRouter();
  const active = useRef<Guard | null>(null);
  const [asked, setAsked] = useState<{ question: Question; go: () => void } | null>(null);

  const leave = useCallback((go: () => void) => {
    if (active.current) setAsked({ question: active.current.question, go });
    else go();
  }, []);

  const guard = useCallback(
    (question: Question) => {
      const listening = new AbortController();
      const { signal } = listening;
      const onClick = (event: MouseEvent) => {
        const target = targetOf(event);
        if (!target) return;
        event.preventDefault();
        event.stopPropagation();
        const path = `${target.pathname}${target.search}${target.hash}`;
        // The documents need a full page load, as in the palette.
        const isConsole = target.pathname === "/console" || target.pathname.startsWith("/console/");
        leave(() => (isConsole ? router.push(path) : void loadPage(path)));
      };
      const release = () => {
        listening.abort();
        if (active.current?.release === release) active.current = null;
      };
      Confirm.preload();
      active.current = { question, release };
      window.addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
      // The capture phase runs before the click handlers of Next.js links.
      document.addEventListener("click", onClick, { capture: true, signal });
      return release;
    },
    [router, leave],
  );

  useEffect(() => {
    // Links of Next.js have prevented the default by now. The others load a page.
    const onClick = (event: MouseEvent) => {
      const target = event.defaultPrevented ? null : targetOf(event);
      if (!target) return;
      event.preventDefault();
      void loadPage(target.href);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);

  const stay = () => setAsked(null);
  const confirm = () => {
    stay();
    // The user has decided, so the browser must not ask again.
    active.current?.release();
    asked?.go();
  };
  return (
    <LeaveGuardContext value={useMemo(() => ({ guard, leave }), [guard, leave])}>
      {children}
      {asked ? (
        <Confirm
          title={asked.question.title}
          confirmLabel="Leave page"
          dismissLabel="Stay"
          tone="plain"
          onOpenChange={stay}
          onConfirm={confirm}
        >
          <p>{asked.question.text}</p>
        </Confirm>
      ) : null}
    </LeaveGuardContext>
  );
}

/** While `isActive`, leaving the page requires confirmation. */
export function useLeaveGuard(isActive: boolean, { title, text }: Question): void {
  const { guard } = use(LeaveGuardContext);
  useEffect(() => (isActive ? guard({ title, text }) : undefined), [isActive, guard, title, text]);
}

/** Runs what leaves the page, after confirmation if the page is guarded. */
export const useLeave = (): LeaveGuard["leave"] => use(LeaveGuardContext).leave;

/** Where a click leads, if it leaves the page in the same window: another path, or another team. */
function targetOf(event: MouseEvent): URL | null {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  // A link with a target opens another window.
  if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download"))
    return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return null;
  const target = new URL(link.href, location.href);
  const teamOf = ({ search }: { search: string }) => new URLSearchParams(search).get("team");
  const isSamePage = target.pathname === location.pathname && teamOf(target) === teamOf(location);
  return target.origin !== location.origin || isSamePage ? null : target;
}
