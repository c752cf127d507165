import type { OwnLimits } from "#db/schema/api-keys";

/** Limits how long a process can miss a change after its listening connection broke silently. */
const cachedMs = 500;
const cachedMax = 10_000;

/** A domain that a key may send from. */
export type SenderDomain = {
  id: string;
  name: string;
  verified: boolean;
  openTracking: boolean;
  clickTracking: boolean;
  trackingHost: string | null;
};

export type KnownKey = {
  id: string;
  teamId: string;
  /** The first key of its family, which may be this one. */
  familyId: string;
  scopes: string[];
  allDomains: boolean;
  domains: SenderDomain[];
  limits: OwnLimits;
  /** Networks from which clients may use the key. Empty: from every address. */
  clientNetworks: string[];
};

/** A key as stored now, with the milliseconds until it expires; null for no expiry. */
export type FoundKey = { key: KnownKey; expiresInMs: number | null };

/** The valid keys that one process has looked up. */
export type KeyCache = {
  /** The key that `find` returns. Concurrent requests for the same name share one lookup. */
  get(name: string, find: () => Promise<FoundKey | null>): Promise<KnownKey | null>;
  /** Removes all keys from the cache. Call it after a change of a key is committed. */
  clear(): void;
};

type Entry = { found: Promise<FoundKey | null>; untilMs: number };

/**
 * Caches keys while `listen` reports their changes: it is called with the first lookup, and calls back when
 * listening has started and for each change. Without it, or before its first callback, every lookup goes to
 * the database. A key is never returned from the cache after its expiry; the remaining time comes from the
 * database, so clocks may differ.
 */
export function createKeyCache(clock: () => Date, listen?: (onChange: () => void) => void): KeyCache {
  const entries = new Map<string, Entry>();
  let startListening = listen;
  let isListening = false;

  return {
    async get(name, find) {
      startListening?.(() => {
        isListening = true;
        entries.clear();
      });
      startListening = undefined;
      if (!isListening) return (await find())?.key ?? null;
      const nowMs = clock().getTime();
      let entry = entries.get(name);
      if (!entry || entry.untilMs <= nowMs) {
        if (entries.size >= cachedMax) entries.clear();
        entry = cacheAs(name, nowMs, find());
      }
      return (await entry.found)?.key ?? null;
    },
    clear: () => entries.clear(),
  };

  /** Only existing keys are kept, so guessed tokens do not fill the cache. */
  function cacheAs(name: string, nowMs: number, found: Promise<FoundKey | null>): Entry {
    const entry: Entry = { found, untilMs: nowMs + cachedMs };
    entries.set(name, entry);
    const remove = () => entries.get(name) === entry && entries.delete(name);
    found.then((key) => {
      if (key === null) remove();
      else if (key.expiresInMs !== null) entry.untilMs = nowMs + Math.min(cachedMs, key.expiresInMs);
    }, remove);
    return entry;
  }
}
