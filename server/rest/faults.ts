import { isDatabaseAway, isLockTimeout, isRetryable } from "#db/faults";
import { AppError } from "#server/errors";
import { errorFacts, type Log } from "#server/log";

/**
 * What a caller may learn of anything thrown. A database that is away is 503: nothing was lost, and the same call, with
 * its `Idempotency-Key`, is safe to repeat. The unknown is logged whole and answered with its request id alone.
 */
export function toAppError(thrown: unknown, log: Log, requestId: string): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseAway(thrown) || isRetryable(thrown) || isLockTimeout(thrown)) {
    log.warn("rest.database_away", { requestId, ...errorFacts(thrown) });
    return new AppError(
      "unavailable",
      "The service cannot reach its database just now. Try again in a moment.",
      {
        cause: thrown,
      },
    );
  }
  log.error("rest.unexpected", { requestId, ...errorFacts(thrown) });
  return new AppError("internal", "Something went wrong on our side. Tell the operator the request id.", {
    cause: thrown,
  });
}
