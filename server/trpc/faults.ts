import { TRPCError } from "@trpc/server";
import { ZodError } from "zod";
import { isDatabaseAway, isLockTimeout, isRetryable } from "#db/faults";
import { AppError } from "#server/errors";
import { errorFacts, type Log } from "#server/log";

/** What a person reads when we do not know what went wrong. */
export const UNEXPECTED = "Something went wrong on our side. Tell the operator the request id.";

/**
 * What a caller may learn of anything that a procedure threw. An AppError speaks for itself; the unknown is logged and
 * answered with a sentence of ours, since its message may hold SQL, addresses and a person's data.
 */
export function toTrpcError(error: TRPCError, log: Log, requestId: string): TRPCError {
  const { cause } = error;
  if (cause instanceof AppError)
    return new TRPCError({ code: cause.trpcCode, message: cause.message, cause });
  if (cause instanceof ZodError)
    return new TRPCError({ code: "BAD_REQUEST", message: describe(cause), cause });
  if (error.code !== "INTERNAL_SERVER_ERROR") return error;
  if (isDatabaseAway(cause) || isRetryable(cause) || isLockTimeout(cause)) {
    log.warn("console.database_away", { requestId, ...errorFacts(cause) });
    const message = "The database does not answer just now. Try again in a moment.";
    return new TRPCError({ code: "SERVICE_UNAVAILABLE", message, cause });
  }
  log.error("console.unexpected", { requestId, ...errorFacts(cause ?? error) });
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: UNEXPECTED, cause });
}

function describe(error: ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join(".") || "input"}: ${issue.message}` : "The input will not do.";
}
