import type { QueryClient } from "@tanstack/react-query";
import type { Topic } from "#server/services/live/changes";
import type { LiveMessage } from "#server/trpc/live";
import { checkConnection } from "./connection/connection";

/** The queries that show each topic. Those of the current page are read again when it changes. */
export const QUERIES: Record<Topic, readonly string[]> = {
  emails: [
    "emails.list",
    "emails.get",
    "emails.eventDeliveries",
    "overview.traffic",
    "overview.tags",
    "overview.standing",
    "overview.parts",
    "suppressions.list",
    "alerts.ofTeam",
    "webhooks.heldUnknown",
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
    "templates.versions",
    "webhooks.list",
    "webhooks.get",
  ],
};
const EVERYTHING = Object.keys(QUERIES) as Topic[];

/** The time in ms until the next connection, after one that ended, and after a server that offered none. */
const reconnectMs = 10_000;
const reconnectUnofferedMs = 300_000;

/**
 * Connects to the procedure `live.changes`, in tRPC's format of server-sent events, and reads the queries of
 * each reported topic again. The browser connects again by itself after a lost connection; this connects
 * again after one that was ended. A server that offers none, because it has too many or no database
 * connection for it, is asked again less often. Returns how to end it.
 */
export function followChanges(
  teamId: string,
  queries: QueryClient,
  onLive: (isLive: boolean) => void,
): () => void {
  const refresh = createRefresh(queries);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const connect = () => {
    const input = encodeURIComponent(JSON.stringify({ team: teamId }));
    const opened = new EventSource(`/api/trpc/live.changes?input=${input}`);
    source = opened;
    const end = (isOffered: boolean) => {
      opened.close();
      onLive(false);
      timer = setTimeout(connect, isOffered ? reconnectMs : reconnectUnofferedMs);
    };
    opened.onmessage = ({ data }) => {
      const { isLive, changed }: LiveMessage = JSON.parse(data);
      if (!isLive) return end(false);
      onLive(true);
      // The first message: whatever changed since the page was read is unknown.
      refresh(changed.length > 0 ? changed : EVERYTHING);
    };
    opened.onerror = () => {
      onLive(false);
      void checkConnection();
      if (opened.readyState === EventSource.CLOSED) end(true);
    };
    for (const name of ["return", "serialized-error"]) opened.addEventListener(name, () => end(true));
  };
  connect();
  return () => {
    clearTimeout(timer);
    source.close();
    onLive(false);
  };
}

/**
 * Reads topics again: one round of each procedure at a time, and another one after it for what changed
 * meanwhile. A slow procedure delays no other one.
 */
function createRefresh(queries: QueryClient): (topics: readonly Topic[]) => void {
  /** Of each procedure that is being read: whether it changed meanwhile. */
  const isDue = new Map<string, boolean>();
  const run = async (path: string) => {
    const isRunning = isDue.has(path);
    isDue.set(path, true);
    if (isRunning) return;
    while (isDue.get(path)) {
      isDue.set(path, false);
      await queries.invalidateQueries({ predicate: ({ queryKey }) => pathOf(queryKey) === path });
    }
    isDue.delete(path);
  };
  return (topics) => {
    for (const path of new Set(topics.flatMap((topic) => QUERIES[topic]))) void run(path);
  };
}

/** The procedure of a query: its key begins with the parts of the name. */
const pathOf = ([path]: readonly unknown[]): string => (Array.isArray(path) ? path.join(".") : "");
