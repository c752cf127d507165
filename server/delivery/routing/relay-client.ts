import { performance } from "node:perf_hooks";
import type { Relay } from "#server/mail/transport/relay";
import { openSealedRelay, type RelayDeps } from "#server/services/relays/connect";
import type { SendingRelay } from "#server/services/relays/health";

/**
 * Creates the client of a relay: `smtpUrlRelay` is that of `SMTP_URL`, the others have a URL of their own.
 */
export const openRelay = (deps: RelayDeps, smtpUrlRelay: Relay | null, relay: SendingRelay): Relay =>
  relay.isSmtpUrl && smtpUrlRelay ? smtpUrlRelay.clone() : openSealedRelay(deps, relay);

export type RelayClients = ReturnType<typeof createRelayClients>;

/** The relay clients of this worker by relay id and URL. Each has its pool, which closes idle connections. */
export function createRelayClients(deps: RelayDeps, smtpUrlRelay: Relay | null) {
  const clients = new Map<string, Relay>();
  const closing = new Set<Promise<void>>();
  const pausedAtMs = new Map<string, number>();
  /** Ids of the relays with a fault in this process since their last success. */
  const failing = new Set<string>();
  const keyOf = ({ id, url }: SendingRelay) => `${id} ${url}`;

  /** Deliveries in progress finish. New ones use a new client, which has no memory of a failed login. */
  const closeClient = (key: string) => {
    const closed = (clients.get(key)?.close() ?? Promise.resolve()).finally(() => closing.delete(closed));
    closing.add(closed);
    clients.delete(key);
  };

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
      let client = clients.get(keyOf(relay));
      try {
        client ??= openRelay(deps, smtpUrlRelay, relay);
      } catch (error) {
        return fail(error instanceof Error ? error.message : String(error));
      }
      clients.set(keyOf(relay), client);
      return use(client);
    },
    /** Pauses the relay in this process until `refresh` reports it as resumed, and closes its client. */
    pause(relay: SendingRelay): void {
      pausedAtMs.set(relay.id, performance.now());
      closeClient(keyOf(relay));
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
      for (const key of clients.keys()) closeClient(key);
      await Promise.allSettled(closing);
    },
  };
}
