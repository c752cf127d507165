import { setTimeout as wait } from "node:timers/promises";
import { isTransientFault } from "#db/faults";
import { errorFacts, type Log } from "#server/platform/log";
import { admitKeyring, type RegistryDeps } from "#server/services/secrets/registry";

const retryMs = 1_000;

/**
 * Checks that the configured secrets are those of the database. Waits while the database is unreachable.
 * Throws SecretRejectedError if they are not, and the reason of the signal.
 */
export async function admitWhenReachable(
  deps: RegistryDeps & { log: Log },
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await admitKeyring(deps);
    } catch (error) {
      if (!isTransientFault(error)) throw error;
      deps.log.warn("secret.check_waits", errorFacts(error));
    }
    await wait(retryMs, undefined, { signal });
  }
}
