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
 * The error that a caller receives. An AppError is passed on in the words of the pages. An unknown error is
 * logged and replaced by a fixed message, because its own may contain SQL, addresses and personal data.
 */
export async function toTrpcError(
  error: TRPCError,
  deps: Pick<Deps, "db" | "hot" | "log">,
  requestId: string,
): Promise<TRPCError> {
  const { log } = deps;
  const { cause } = error;
  if (cause instanceof AppError)
    return new TRPCError({ code: cause.trpcCode, message: formatForPage(cause), cause });
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

/** Fields of the API whose label on the pages is not their name in words. */
const LABELS: Record<string, string> = {
  bounceCopiesTo: "Bounces",
  endpoint: "URL",
  expires_at: "Expires",
  limits: "Rate limits",
  name: "Domain",
  replyCopiesTo: "Replies",
  scheduled_at: "Send at",
  warm_up: "Warm-up",
};

const formatForPage = ({ field, plain }: AppError): string =>
  field === null ? plain : `${LABELS[field] ?? formatField(field)}: ${plain}`;

/**
 * The first fault of an input, with the name of its field in words. Messages of our own schemas stay; those
 * of Zod do not.
 */
function describe({ issues: [issue] }: ZodError): string {
  if (!issue) return "Invalid input.";
  const field = issue.path.findLast((part) => typeof part === "string");
  const message = ZOD_MESSAGE.test(issue.message) ? explain(issue) : issue.message;
  return field === undefined ? message : `${formatField(field)}: ${message}`;
}

/** How the messages of Zod begin. */
const ZOD_MESSAGE =
  /^(Too (big|small)|Invalid (input|string|option|key|element|date|[A-Z]{2,})|Unrecognized key)/;

const ABBREVIATIONS = new Set(["url", "html", "id", "ids"]);

/** "Return path label", "URL". */
const formatField = (name: string): string => {
  if (ABBREVIATIONS.has(name)) return name.toUpperCase();
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const UNITS: Record<string, string> = { string: "characters", array: "entries" };

function explain(issue: ZodError["issues"][number]): string {
  switch (issue.code) {
    case "too_big":
      return `Enter at most ${issue.maximum} ${UNITS[issue.origin] ?? ""}`.trim().concat(".");
    case "too_small":
      if (issue.minimum === 1 && issue.origin in UNITS) return "Enter a value.";
      return `Enter at least ${issue.minimum} ${UNITS[issue.origin] ?? ""}`.trim().concat(".");
    case "invalid_value":
      return `Select one of ${issue.values.map(String).join(", ")}.`;
    case "unrecognized_keys":
      return `This page is out of date: it sends the unknown field “${issue.keys[0]}”. Reload it.`;
    default:
      return "Enter a valid value.";
  }
}
