"use client";

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Topic } from "#server/services/live/changes";
import { useTeam } from "./team";
import { useTRPCClient } from "./trpc";

const Live = createContext(false);

/** The queries that show each topic. Those of the current page are read again when it changes. */
const QUERIES: Record<Topic, readonly string[]> = {
  emails: [
    "emails.list",
    "emails.get",
    "emails.eventDeliveries",
    "overview.traffic",
    "overview.standing",
    "overview.parts",
    "suppressions.list",
    "alerts.ofTeam",
  ],
  webhooks: [
    "webhooks.list",
    "webhooks.get",
    "webhooks.deliveries",
    "webhooks.delivery",
    "emails.eventDeliveries",
    "overview.parts",
  ],
  settings: [
    "activity.changes",
    "domains.list",
    "domains.get",
    "keys.list",
    "keys.get",
    "members.list",
    "invitations.list",
    "overview.parts",
    "suppressions.list",
    "templates.list",
    "webhooks.list",
    "webhooks.get",
  ],
};
const EVERYTHING = Object.keys(QUERIES) as Topic[];

/** The interval in ms of a page with reported changes, for what is not among them, such as a claim by a worker. */
const backstopMs = 20_000;
/** After a connection that ended, in ms. */
const reconnectMs = 10_000;

/**
 * Keeps the pages below up to date while the tab is visible: the server reports each change of the team within about a second,
 * and the page's queries run again. Without that connection, and where the server has none to offer, the pages poll.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useTRPCClient();
  const teamId = useTeam().team?.teamId ?? null;
  const isVisible = useSyncExternalStore(onVisibility, readVisible, () => false);
  const [isLive, setLive] = useState(false);
  const refresh = useRefresh(useQueryClient());
  useEffect(() => {
    if (teamId === null || !isVisible) return;
    let isOffered = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reconnectLater = () => {
      setLive(false);
      clearTimeout(timer);
      if (!isOffered) return;
      timer = setTimeout(() => {
        subscription.unsubscribe();
        subscription = connect();
      }, reconnectMs);
    };
    const connect = () =>
      client.live.changes.subscribe(
        { team: teamId },
        {
          onData: (message) => {
            isOffered = message.isLive;
            setLive(isOffered);
            // The first message: whatever changed since the page was read is unknown.
            if (isOffered) refresh(message.changed.length > 0 ? message.changed : EVERYTHING);
          },
          onConnectionStateChange: ({ state }) => {
            if (state !== "pending") setLive(false);
          },
          onComplete: reconnectLater,
          onError: reconnectLater,
        },
      );
    let subscription = connect();
    return () => {
      clearTimeout(timer);
      subscription.unsubscribe();
      setLive(false);
    };
  }, [client, teamId, isVisible, refresh]);
  return <Live value={isLive}>{children}</Live>;
}

/**
 * Returns a function from the interval in ms at which a query polls to the one it needs now. Most changes of emails and webhooks
 * are reported, so their queries rarely have to.
 */
export function usePolling(): <Ms extends number | false>(ms: Ms) => Ms | number {
  const isLive = use(Live);
  return useCallback((ms) => (isLive && ms !== false ? Math.max(ms, backstopMs) : ms), [isLive]);
}

/** Reads the topics again: one round at a time, and another one after it for what changed meanwhile. */
function useRefresh(queries: QueryClient): (topics: readonly Topic[]) => void {
  const changed = useRef(new Set<string>());
  const isRunning = useRef(false);
  return useCallback(
    async (topics) => {
      for (const path of topics.flatMap((topic) => QUERIES[topic])) changed.current.add(path);
      if (isRunning.current) return;
      isRunning.current = true;
      while (changed.current.size > 0) {
        const paths = changed.current;
        changed.current = new Set();
        await queries.invalidateQueries({ predicate: ({ queryKey }) => paths.has(pathOf(queryKey)) });
      }
      isRunning.current = false;
    },
    [queries],
  );
}

/** The procedure of a query: its key begins with the parts of the name. */
const pathOf = ([path]: readonly unknown[]): string => (Array.isArray(path) ? path.join(".") : "");

function onVisibility(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}
const readVisible = (): boolean => document.visibilityState === "visible";
