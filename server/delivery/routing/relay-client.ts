import { performance } from "node:perf_hooks";
import type { Relay } from "#server/mail/transport/relay";
import { createPools } from "#server/mail/transport/smtp/pools";
import { openSealedRelay, type RelayDeps } from "#server/services/relays/connect";
import type { SendingRelay } from "#server/services/relays/health";

/**
 * Creates the client of a relay: `smtpUrlRelay` is that of `SMTP_URL`, the others have a URL of their own.
 */
export const openRelay = (deps: RelayDeps, smtpUrlRelay: Relay | null, relay: SendingRelay): Relay =>
  relay.isSmtpUrl && smtpUrlRelay ? smtpUrlRelay.clone() : openSealedRelay(deps, relay);

/** An unused relay client is closed after this time; its idle connections close earlier. */
const idleMs = 5 * 60_000;

export type RelayPool = ReturnType<typeof createRelayPool>;

/** The relay clients of this worker with their connections, by relay id and URL. */
export function createRelayPool(deps: RelayDeps, smtpUrlRelay: Relay | null) {
  const clients = createPools<Relay>(idleMs);
  const pausedAtMs = new Map<string, number>();
  /** Ids of the relays with a fault in this process since their last success. */
  const failing = new Set<string>();
  const keyOf = ({ id, url }: SendingRelay) => `${id} ${url}`;

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
      let fault: string | null = null;
      const open = () => {
        try {
          return openRelay(deps, smtpUrlRelay, relay);
        } catch (error) {
          fault = error instanceof Error ? error.message : String(error);
          throw error;
        }
      };
      return clients.use(keyOf(relay), open, use).catch((error) => {
        if (fault !== null) return fail(fault);
        throw error;
      });
    },
    /** Pauses the relay in this process until `refresh` reports it as resumed, and closes its client. */
    pause(relay: SendingRelay): void {
      pausedAtMs.set(relay.id, performance.now());
      // Deliveries in progress finish. New ones use a new client, which has no memory of the failed login.
      clients.discard(keyOf(relay));
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
    close: clients.close,
  };
}
