import { isDatabaseUnreachable, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import { AppError } from "#server/platform/errors";
import { errorFacts, type Log } from "#server/platform/log";

const AWAY =
  "The database is busy or unavailable. Try again in a moment, with the same `Idempotency-Key` if you sent one.";
const SLOW = "The request took too long. Request less data, or try again in a moment.";

/**
 * Converts any thrown value to the error that the caller receives. An unavailable database is 503: the last statement may or
 * may not have been committed, and a repeat with the same `Idempotency-Key` is safe. Unexpected errors are logged in full;
 * the caller receives only the request id.
 */
export function toAppError(thrown: unknown, log: Log, requestId: string): AppError {
  if (thrown instanceof AppError) return thrown;
  const isSlow = isStatementTimeout(thrown);
  if (isSlow || isDatabaseUnreachable(thrown) || isRetryable(thrown) || isLockTimeout(thrown)) {
    log.warn(isSlow ? "rest.too_slow" : "rest.database_away", { requestId, ...errorFacts(thrown) });
    return new AppError("unavailable", isSlow ? SLOW : AWAY, { cause: thrown });
  }
  log.error("rest.unexpected", { requestId, ...errorFacts(thrown) });
  return new AppError("internal", "Internal server error. Report the request id to the operator.", {
    cause: thrown,
  });
}
