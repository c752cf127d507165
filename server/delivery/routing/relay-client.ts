import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { Breakdown } from "#server/mail/transport/judge";
import { createRelay, type Relay } from "#server/mail/transport/relay";
import { resolvePublicAddresses } from "#server/mail/transport/smtp/guarded-addresses";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { SendingRelay } from "#server/services/relays/health";
import { vaultPlaceOfRelay } from "#server/services/relays/seal";

/** A relay with its encrypted URL; `teamId` is null for a relay of the whole installation. */
type SealedRelay = Pick<SendingRelay, "id" | "teamId" | "url">;
export type RelayDeps = Pick<WorkerDeps, "vault" | "dns" | "outside" | "names" | "relayTimeouts">;

/**
 * Creates the SMTP client of a relay. Each connection to a team's relay passes the egress guard and uses an address that the
 * guard checked. The operator's relays may be at any address. Throws a readable error if the URL cannot be
 * decrypted or parsed.
 */
function openSealedRelay(
  { vault, dns, outside, names, relayTimeouts = {} }: RelayDeps,
  relay: SealedRelay,
): Relay {
  const read = parseSmtpUrl(openUrl(vault, relay));
  if (!read.ok) throw new Error(`The URL of this relay is invalid. ${read.fault}`);
  const { target } = read;
  const canConnectTo = (address: string) => outside.judgeAddress(address) !== "blocked";
  const findAddresses = (signal: AbortSignal) =>
    resolvePublicAddresses(dns, target.host, canConnectTo, signal);
  return createRelay(target, {
    ...(names.mailHost !== null && { name: names.mailHost }),
    timeouts: relayTimeouts,
    ...(relay.teamId !== null && { findAddresses }),
  });
}

/** Opens and closes a connection as for a message. Returns null on success, otherwise the fault. */
export async function probeRelay(
  deps: RelayDeps,
  relay: SealedRelay,
  deadlineMs: number,
): Promise<Breakdown | null> {
  let client: Relay;
  try {
    client = openSealedRelay(deps, relay);
  } catch (error) {
    return { alarm: "auth", reason: error instanceof Error ? error.message : String(error) };
  }
  try {
    return await client.probe(deadlineMs);
  } finally {
    await client.close();
  }
}

function openUrl(vault: RelayDeps["vault"], { id, url }: SealedRelay): string {
  try {
    return vault.open(url, vaultPlaceOfRelay("url", id));
  } catch (cause) {
    const reason =
      "The relay's password cannot be decrypted. Check that BACKSTAMP_SECRET is the one that was set when the relay was created.";
    throw new Error(reason, { cause });
  }
}

/** An unused relay client is closed after this time; its idle connections close earlier. */
const idleMs = 5 * 60_000;

type Entry = { client: Relay; users: number; timer?: NodeJS.Timeout };
export type RelayPool = ReturnType<typeof createRelayPool>;

/** The relay clients of this worker with their connections, by relay id and URL. */
export function createRelayPool(deps: RelayDeps) {
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
    /** Runs `use` with the relay's client, which is created on first use. Returns `fail(reason)` if its URL cannot be read. */
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
