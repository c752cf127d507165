import { performance } from "node:perf_hooks";
import type { Relay } from "#server/mail/transport/relay";
import { openSealedRelay, type RelayDeps } from "#server/services/relays/connect";
import type { SendingRelay } from "#server/services/relays/health";

/**
 * Creates the client of a relay: `smtpUrlRelay` is that of `SMTP_URL`, the others have a URL of their own.
 */
export const openRelay = (deps: RelayDeps, smtpUrlRelay: Relay | null, relay: SendingRelay): Relay =>
  relay.isSmtpUrl && smtpUrlRelay ? smtpUrlRelay.clone() : openSealedRelay(deps, relay);

/** An unused relay client is closed after this time; its idle connections close earlier. */
const idleMs = 5 * 60_000;

type Entry = { client: Relay; users: number; timer?: NodeJS.Timeout };
export type RelayPool = ReturnType<typeof createRelayPool>;

/** The relay clients of this worker with their connections, by relay id and URL. */
export function createRelayPool(deps: RelayDeps, smtpUrlRelay: Relay | null) {
  const entries = new Map<string, Entry>();
  const pausedAtMs = new Map<string, number>();
  /** Ids of the relays with a fault in this process since their last success. */
  const failing = new Set<string>();
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
    const created = { client: openRelay(deps, smtpUrlRelay, relay), users: 0 };
    entries.set(key, created);
    return created;
  }

  return {
    /**
     * Runs `use` with the relay's client, which is created on first use. Returns `fail(reason)` if its URL
     * cannot be read.
     */
    async use<T>(
      relay: SendingRelay,
      use: (client: Relay) => Promise<T>,
      fail: (reason: string) => T,
    ): Promise<T> {
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
    /** Pauses the relay in this process until `refresh` reports it as resumed, and closes its client. */
    pause(relay: SendingRelay): void {
      pausedAtMs.set(relay.id, performance.now());
      const entry = entries.get(keyOf(relay));
      // Deliveries in progress finish. New ones use a new client, which has no memory of the failed login.
      if (entry) closeEntry(keyOf(relay), entry);
    },
    isPaused: (relay: SendingRelay): boolean => relay.pausedForMs !== null || pausedAtMs.has(relay.id),
    /**
     * Whether the relay had a fault since its last success: in this process, or by the state read at the
     * claim.
     */
    isFailing: (relay: SendingRelay): boolean => relay.failures > 0 || failing.has(relay.id),
    setFailing({ id }: SendingRelay, isFailing: boolean): void {
      if (isFailing) failing.add(id);
      else failing.delete(id);
    },
    /** Applies the state read from the database; the read started at `readAtMs` on the monotonic clock. */
    refresh({ id, pausedForMs }: SendingRelay, readAtMs: number): void {
      if (pausedForMs === null && (pausedAtMs.get(id) ?? Number.POSITIVE_INFINITY) < readAtMs)
        pausedAtMs.delete(id);
    },
    async close(): Promise<void> {
      for (const [key, entry] of entries) closeEntry(key, entry);
      await Promise.allSettled(closing);
    },
  };
}
