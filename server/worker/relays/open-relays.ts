import { performance } from "node:perf_hooks";
import type { RelayWay } from "#db/relays";
import type { Relay } from "#server/mail/transport/relay";
import { openRelay, type RelayMeans } from "./open";

/** An unused relay is let go of after this time; its idle connections end sooner. */
const keepMs = 5 * 60_000;

/** The relays that this worker has open, each with its connections, by what their URL is. */
export type OpenRelays = {
  /** Uses a relay, opened where it is not; `fail` says what comes of it where its URL does not open. */
  use<T>(relay: RelayWay, use: (opened: Relay) => Promise<T>, fail: (reason: string) => T): Promise<T>;
  /** Leaves it alone by what we have seen ourselves, until it is read as resumed, and lets go of its connections. */
  pause(relay: RelayWay): void;
  isPaused(relay: RelayWay): boolean;
  /** What the database said of it when it was asked at `askedAtMs`, on the monotonic clock. */
  heard(relay: RelayWay, askedAtMs: number): void;
  close(): Promise<void>;
};

type Entry = { opened: Relay; users: number; timer?: NodeJS.Timeout };

export function createOpenRelays(means: RelayMeans): OpenRelays {
  const entries = new Map<string, Entry>();
  const pausedAtMs = new Map<string, number>();
  const closing = new Set<Promise<void>>();
  const keyOf = ({ id, url }: RelayWay) => `${id} ${url}`;

  function letGo(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    if (entries.get(key) === entry) entries.delete(key);
    const closed = entry.opened.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  function entryOf(relay: RelayWay): Entry {
    const key = keyOf(relay);
    const found = entries.get(key);
    if (found) return found;
    const made = { opened: openRelay(means, relay), users: 0 };
    entries.set(key, made);
    return made;
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
        return await use(entry.opened);
      } finally {
        entry.users -= 1;
        if (entry.users === 0) entry.timer = setTimeout(() => letGo(keyOf(relay), entry), keepMs).unref();
      }
    },
    pause(relay) {
      pausedAtMs.set(relay.id, performance.now());
      const entry = entries.get(keyOf(relay));
      // Those who use it end by themselves: it takes nobody new, and a new one does not remember the refused login.
      if (entry) letGo(keyOf(relay), entry);
    },
    isPaused: ({ id }) => pausedAtMs.has(id),
    heard({ id, pausedForMs }, askedAtMs) {
      if (pausedForMs === null && (pausedAtMs.get(id) ?? Number.POSITIVE_INFINITY) < askedAtMs)
        pausedAtMs.delete(id);
    },
    async close() {
      for (const [key, entry] of entries) letGo(key, entry);
      await Promise.allSettled(closing);
    },
  };
}
