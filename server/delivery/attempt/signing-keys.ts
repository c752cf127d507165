import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { SigningKey } from "#server/mail/dkim/sign";
import { setBounded } from "#server/platform/bounded-map";
import { keyActivationDelayMs } from "#server/services/domains/dkim/keys";
import {
  keysAt,
  listSigningKeys,
  type SigningDomain,
  type TimedKey,
} from "#server/services/domains/dkim/signing-keys";

/**
 * Cache time of a domain's keys. A new key starts to sign later than this, after all workers have read it.
 */
const cacheMs = keyActivationDelayMs / 4;
/** Maximum domains with parsed keys in the cache; the entry that was read first is evicted. */
const domainsMax = 1_000;

/** The fields of an email that select its keys. */
export type SigningRequest = SigningDomain & { createdAt: Date };

/**
 * Returns the keys that sign an email, RSA first. The keys that were active when it was accepted sign every
 * attempt. Keys are parsed once. Throws if the database is unavailable, and `DkimKeyUnreadable` if one of
 * them cannot be decrypted: an email that requires a signature is never sent without one.
 */
export function createSigningKeys(
  deps: Pick<WorkerDeps, "hot" | "vault">,
): (request: SigningRequest) => Promise<SigningKey[]> {
  const cache = new Map<string, { readAtMs: number; keys: Promise<TimedKey[]> }>();

  function keysOf(request: SigningRequest): Promise<TimedKey[]> {
    const { domainId } = request;
    const nowMs = performance.now();
    const found = cache.get(domainId);
    if (found && nowMs - found.readAtMs < cacheMs) return found.keys;
    const previous = found ? found.keys.catch(() => []) : Promise.resolve([]);
    const keys = previous.then((opened) => listSigningKeys(deps, request, opened));
    setBounded(cache, domainId, { readAtMs: nowMs, keys }, domainsMax);
    keys.catch(() => {
      if (cache.get(domainId)?.keys === keys) cache.delete(domainId);
    });
    return keys;
  }

  return async (request) => {
    const keys = await keysOf(request);
    try {
      return keysAt(keys, request.createdAt);
    } catch (error) {
      // Read again for the next attempt: the key may have been repaired.
      cache.delete(request.domainId);
      throw error;
    }
  };
}
