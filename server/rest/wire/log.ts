import { z } from "zod";
import { isId } from "#server/ids";
import type { ApiCall, LogFilter, WholeApiCall } from "#server/services/logs/read";
import type { PageQuery } from "#server/services/paging";
import { PAGING, refuseTwoCursors } from "../query";
import { Id, Time } from "./shapes";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** One status, or a class of them by its first digit. */
const Status = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/, "Must be a status such as 429, or a class of them such as 4xx.")
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
    refuseTwoCursors(query);
    return { ...query, apiKeyId: key };
  });

export const LogSummaryAnswer = z
  .object({
    id: Id,
    created_at: Time,
    endpoint: z.string(),
    method: z.string(),
    response_status: z.int(),
    user_agent: z.string().nullable(),
    api_key_id: Id,
  })
  .meta({ id: "LogSummary" });

export const LogAnswer = z
  .object({
    object: z.literal("log"),
    ...LogSummaryAnswer.shape,
    request_body: z.unknown().describe("Without secrets and contents; null for none."),
    response_body: z.unknown().describe("Without secrets and contents; null for none."),
  })
  .meta({ id: "Log" });

/** A call as lists show it. `endpoint` is its path without what all of them begin with. */
export function logSummaryJson(call: ApiCall): z.infer<typeof LogSummaryAnswer> {
  return {
    id: call.id,
    created_at: call.createdAt.toISOString(),
    endpoint: call.path.replace(/^\/api(?=\/)/, ""),
    method: call.method,
    response_status: call.status,
    user_agent: call.userAgent,
    api_key_id: call.apiKeyId,
  };
}

/** A call with its bodies, as far as they are kept; null for none. */
export function logJson(call: WholeApiCall): z.infer<typeof LogAnswer> {
  return {
    object: "log",
    ...logSummaryJson(call),
    request_body: call.requestBody,
    response_body: call.responseBody,
  };
}
