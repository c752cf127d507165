"use client";

import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { useTeam } from "./team";

const Live = createContext(false);

/**
 * The interval in ms of a page with reported changes, for what is not among them, such as a claim by a
 * worker.
 */
const backstopMs = 20_000;

/**
 * Keeps the pages below up to date while the tab is visible: the server reports each change of the team
 * within about a second, and the page's queries run again. Without that connection, and where the server has
 * none to offer, the pages poll.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const teamId = useTeam().team?.teamId ?? null;
  const isVisible = useSyncExternalStore(onVisibility, readVisible, () => false);
  const [isLive, setLive] = useState(false);
  const queries = useQueryClient();
  useEffect(() => {
    if (teamId === null || !isVisible) return;
    let isWanted = true;
    let end = () => {};
    // Loaded after the page is usable. If that fails, the pages poll.
    import("./live-connection").then(
      ({ followChanges }) => {
        if (isWanted) end = followChanges(teamId, queries, setLive);
      },
      () => {},
    );
    return () => {
      isWanted = false;
      end();
    };
  }, [teamId, isVisible, queries]);
  return <Live value={isLive}>{children}</Live>;
}

/**
 * Returns a function from the interval in ms at which a query polls to the one it needs now. Most changes of
 * emails and webhooks are reported, so their queries rarely have to.
 */
export function usePolling(): <Ms extends number | false>(ms: Ms) => Ms | number {
  const isLive = use(Live);
  return useCallback((ms) => (isLive && ms !== false ? Math.max(ms, backstopMs) : ms), [isLive]);
}

/**
 * The same for a query whose data says how often: every `activeMs` while it is about to change, otherwise
 * every `idleMs`.
 */
export function useActivePolling<Data>(
  isActive: (data: Data) => boolean | undefined,
  activeMs: number,
  idleMs: number,
) {
  const polling = usePolling();
  return ({ state: { data } }: { state: { data: Data | undefined } }) =>
    polling(data && isActive(data) ? activeMs : idleMs);
}

function onVisibility(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}
const readVisible = (): boolean => document.visibilityState === "visible";
