import { isDatabaseAway, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import { AppError } from "#server/errors";
import { errorFacts, type Log } from "#server/log";

const AWAY =
  "The database is busy or away just now. Try again in a moment, with the same `Idempotency-Key` if you gave one.";
const SLOW = "This took too long. Ask for less at once, or try again in a moment.";

/**
 * What a caller may learn of anything thrown. A database that is away is 503: whether the last statement was committed may
 * be unknown, and a repetition under the same `Idempotency-Key` is safe. The unknown is logged whole and answered with its
 * request id alone.
 */
export function toAppError(thrown: unknown, log: Log, requestId: string): AppError {
  if (thrown instanceof AppError) return thrown;
  const isSlow = isStatementTimeout(thrown);
  if (isSlow || isDatabaseAway(thrown) || isRetryable(thrown) || isLockTimeout(thrown)) {
    log.warn(isSlow ? "rest.too_slow" : "rest.database_away", { requestId, ...errorFacts(thrown) });
    return new AppError("unavailable", isSlow ? SLOW : AWAY, { cause: thrown });
  }
  log.error("rest.unexpected", { requestId, ...errorFacts(thrown) });
  return new AppError("internal", "Something went wrong on our side. Tell the operator the request id.", {
    cause: thrown,
  });
}
