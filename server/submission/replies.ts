import { isDatabaseUnreachable, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import { replyOf } from "#server/mail/listener/reply";
import { AppError } from "#server/platform/errors";
import { errorFacts, type Log } from "#server/platform/log";
import { IdempotencyKeyBusy } from "#server/services/emails/accept/acceptor";

/** The connection to the database may have broken during the commit. */
const AWAY =
  "The database is busy or unavailable. Send the message again in a moment. It may have been accepted; an idempotency header prevents a copy.";

/**
 * The error for the client. Unknown errors are logged in full, and the client gets only the id of the
 * message.
 */
export function toAppError(thrown: unknown, log: Log, requestId: string): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof IdempotencyKeyBusy || isLockTimeout(thrown))
    return new AppError("idempotency_running", "A message with this idempotency key is still in progress.");
  const isAway = isDatabaseUnreachable(thrown) || isRetryable(thrown) || isStatementTimeout(thrown);
  log.error(isAway ? "submission.database_unavailable" : "submission.failed", {
    requestId,
    ...errorFacts(thrown),
  });
  return isAway
    ? new AppError("unavailable", AWAY)
    : new AppError("internal", `Internal error, request id ${requestId}. Send the message again later.`);
}

/** The reply for an error: 4xx if the same message can be accepted later. */
export function replyTo({ code, message, details }: AppError): Error {
  switch (code) {
    case "unauthorized":
      return replyOf(535, `5.7.8 ${message}`);
    case "rate_limited":
      return replyOf(451, `4.7.1 Rate limit exceeded, try again in ${details.retryAfter} seconds`);
    case "too_large":
      return replyOf(552, `5.3.4 ${message}`);
    case "forbidden":
    case "invalid_sender":
      return replyOf(550, `5.7.1 ${message}`);
    case "unavailable":
    case "internal":
    case "too_slow":
    case "idempotency_running":
      return replyOf(451, `4.3.0 ${message}`);
    default:
      return replyOf(550, `5.6.0 ${message}`);
  }
}
