import { TRPCError } from "@trpc/server";
import { ZodError } from "zod";
import { isDatabaseUnreachable, isLockTimeout, isRetryable } from "#db/faults";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { errorFacts } from "#server/platform/log";
import { explainSchemaFault } from "#server/services/health";

/** The message for an unexpected error. */
export const UNEXPECTED = "Something went wrong. Contact the operator and include the request id.";

/**
 * The error that a caller receives. The message of an AppError is passed on. An unknown error is logged and
 * replaced by a fixed message, because its own may contain SQL, addresses and personal data.
 */
export async function toTrpcError(
  error: TRPCError,
  deps: Pick<Deps, "db" | "hot" | "log">,
  requestId: string,
): Promise<TRPCError> {
  const { log } = deps;
  const { cause } = error;
  if (cause instanceof AppError)
    return new TRPCError({ code: cause.trpcCode, message: cause.message, cause });
  if (cause instanceof ZodError)
    return new TRPCError({ code: "BAD_REQUEST", message: describe(cause), cause });
  if (error.code !== "INTERNAL_SERVER_ERROR") return error;
  if (isDatabaseUnreachable(cause) || isRetryable(cause) || isLockTimeout(cause)) {
    log.warn("console.database_away", { requestId, ...errorFacts(cause) });
    const message = "The database is currently unavailable. Try again in a moment.";
    return new TRPCError({ code: "SERVICE_UNAVAILABLE", message, cause });
  }
  const fault = await explainSchemaFault(deps, cause);
  if (fault) {
    log.error(`console.${fault.reason}`, { requestId, ...errorFacts(cause) });
    return new TRPCError({ code: "SERVICE_UNAVAILABLE", message: fault.message, cause });
  }
  log.error("console.unexpected", { requestId, ...errorFacts(cause ?? error) });
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: UNEXPECTED, cause });
}

function describe(error: ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join(".") || "input"}: ${issue.message}` : "Invalid input.";
}
