import { z } from "zod";
import type { apiRequests } from "#db/schema/api-keys";
import { Id, present, Time } from "./shapes";

/** A recorded API call without its bodies. */
export type ApiCall = Omit<ApiCallWithBodies, "requestBody" | "responseBody" | "emailIds">;
export type ApiCallWithBodies = typeof apiRequests.$inferSelect;

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
export const presentLogSummary = (call: ApiCall) =>
  present(LogSummaryResponse, call, {
    endpoint: call.path.replace(/^\/api(?=\/)/, ""),
    response_status: call.status,
    rejection:
      call.rejectionReason === null
        ? null
        : { reason: call.rejectionReason, detail: call.rejectionDetail ?? "" },
  });

/** A call with its stored bodies; null if there is none. */
export const presentLog = (call: ApiCallWithBodies) =>
  present(LogResponse, call, { object: "log", ...presentLogSummary(call) });
