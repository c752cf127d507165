import { z } from "zod";
import { isId } from "#server/platform/ids";
import type { ApiCall, ApiCallWithBodies, LogFilter } from "#server/services/logs/read";
import type { PageQuery } from "#server/services/paging";
import { Id, Time } from "#server/shared/wire/shapes";
import { PAGING, rejectTwoCursors } from "../pipeline/query";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** One status, or a class of statuses. */
const Status = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/, "Must be a status such as 429, or a status class such as 4xx.")
  .transform((text) => ({ from: Number(text.replace("xx", "00")), to: Number(text.replace("xx", "99")) }));

/** The query of `GET /api/logs`. */
export const LogsQuery = z
  .strictObject({
    ...PAGING,
    key: z.string().refine(isId, "Must be the id of an API key.").optional(),
    status: Status.optional(),
    method: z.enum(METHODS, `Must be one of ${METHODS.join(", ")}.`).optional(),
  })
  .transform(({ key, ...query }): PageQuery & LogFilter => {
    rejectTwoCursors(query);
    return { ...query, apiKeyId: key };
  });

export const LogSummaryResponse = z
  .object({
    id: Id,
    created_at: Time,
    endpoint: z.string(),
    method: z.string(),
    response_status: z.int(),
    user_agent: z.string().nullable(),
    api_key_id: Id,
    rejection: z
      .object({ reason: z.string(), detail: z.string() })
      .nullable()
      .describe("Why the call was rejected with 403, as in the header `X-Backstamp-Reason`."),
  })
  .meta({ id: "LogSummary" });

export const LogResponse = z
  .object({
    object: z.literal("log"),
    ...LogSummaryResponse.shape,
    request_body: z.unknown().describe("Without secrets and contents; null if there is none."),
    response_body: z.unknown().describe("Without secrets and contents; null if there is none."),
  })
  .meta({ id: "Log" });

/** A call as in lists. `endpoint` is its path without the prefix `/api`. */
export function logSummaryJson(call: ApiCall): z.infer<typeof LogSummaryResponse> {
  return {
    id: call.id,
    created_at: call.createdAt.toISOString(),
    endpoint: call.path.replace(/^\/api(?=\/)/, ""),
    method: call.method,
    response_status: call.status,
    user_agent: call.userAgent,
    api_key_id: call.apiKeyId,
    rejection:
      call.rejectionReason === null
        ? null
        : { reason: call.rejectionReason, detail: call.rejectionDetail ?? "" },
  };
}

/** A call with its stored bodies; null if there is none. */
export function logJson(call: ApiCallWithBodies): z.infer<typeof LogResponse> {
  return {
    object: "log",
    ...logSummaryJson(call),
    request_body: call.requestBody,
    response_body: call.responseBody,
  };
}
