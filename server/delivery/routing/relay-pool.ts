import { performance } from "node:perf_hooks";
import type { Relay } from "#server/mail/transport/relay";
import type { SendingRelay } from "#server/services/relays/health";
import { openSealedRelay, type RelayDeps } from "./relay-client";

/** An unused relay client is closed after this time; its idle connections close earlier. */
const idleMs = 5 * 60_000;

/** The relay clients of this worker with their connections, by relay id and URL. */
export type RelayPool = {
  /** Runs `use` with the relay's client, which is created on first use. Returns `fail(reason)` if its URL cannot be read. */
  use<T>(relay: SendingRelay, use: (client: Relay) => Promise<T>, fail: (reason: string) => T): Promise<T>;
  /** Pauses the relay in this process until `refresh` reports it as resumed, and closes its client. */
  pause(relay: SendingRelay): void;
  isPaused(relay: SendingRelay): boolean;
  /** Applies the state read from the database; the read started at `readAtMs` on the monotonic clock. */
  refresh(relay: SendingRelay, readAtMs: number): void;
  close(): Promise<void>;
};

type Entry = { client: Relay; users: number; timer?: NodeJS.Timeout };

export function createRelayPool(deps: RelayDeps): RelayPool {
  const entries = new Map<string, Entry>();
  const pausedAtMs = new Map<string, number>();
  const closing = new Set<Promise<void>>();
  const keyOf = ({ id, url }: SendingRelay) => `${id} ${url}`;

  function closeEntry(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    if (entries.get(key) === entry) entries.delete(key);
    const closed = entry.client.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  function entryOf(relay: SendingRelay): Entry {
    const key = keyOf(relay);
    const found = entries.get(key);
    if (found) return found;
    const created = { client: openSealedRelay(deps, relay), users: 0 };
    entries.set(key, created);
    return created;
  }

  return {
    async use(relay, use, fail) {
      let entry: Entry;
      try {
        entry = entryOf(relay);
      } catch (error) {
        return fail(error instanceof Error ? error.message : String(error));
      }
      clearTimeout(entry.timer);
      entry.users += 1;
      try {
        return await use(entry.client);
      } finally {
        entry.users -= 1;
        if (entry.users === 0)
          entry.timer = setTimeout(() => closeEntry(keyOf(relay), entry), idleMs).unref();
      }
    },
    pause(relay) {
      pausedAtMs.set(relay.id, performance.now());
      const entry = entries.get(keyOf(relay));
      // Deliveries in progress finish. New ones use a new client, which has no memory of the failed login.
      if (entry) closeEntry(keyOf(relay), entry);
    },
    isPaused: ({ id }) => pausedAtMs.has(id),
    refresh({ id, pausedForMs }, readAtMs) {
      if (pausedForMs === null && (pausedAtMs.get(id) ?? Number.POSITIVE_INFINITY) < readAtMs)
        pausedAtMs.delete(id);
    },
    async close() {
      for (const [key, entry] of entries) closeEntry(key, entry);
      await Promise.allSettled(closing);
    },
  };
}
