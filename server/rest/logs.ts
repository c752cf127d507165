import { z } from "zod";
import { isId } from "#server/platform/ids";
import { getCall, type LogFilter, listCalls } from "#server/services/logs/read";
import type { PageQuery } from "#server/services/paging";
import { LogResponse, LogSummaryResponse, presentLog, presentLogSummary } from "#server/shared/wire/log";
import { listOf } from "#server/shared/wire/shapes";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "SMTP"] as const;

/** One status, or a class of statuses. */
const Status = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/, "Must be a status such as 429, or a status class such as 4xx.")
  .transform((text) => ({ from: Number(text.replace("xx", "00")), to: Number(text.replace("xx", "99")) }));

const LogsQuery = listQuery({
  key: z.string().refine(isId, "Must be the id of an API key.").optional().describe("The id of an API key."),
  email_id: z
    .string()
    .refine(isId, "Must be the id of an email.")
    .optional()
    .describe("The id of an email: only the call that sent it."),
  status: Status.optional().describe("A status such as 429, or a class such as `4xx`."),
  method: z
    .enum(METHODS, `Must be one of ${METHODS.join(", ")}.`)
    .optional()
    .describe("The method; `SMTP` for a submission over SMTP."),
}).transform(({ key, email_id: emailId, ...query }): PageQuery & LogFilter => ({
  ...query,
  apiKeyId: key,
  emailId,
}));

export const logRoutes = [
  withApi({
    route: "GET /api/logs",
    access: { scope: "logs:read" },
    summary: "List API calls of the last seven days, including rejected ones, newest first",
    query: LogsQuery,
    example: { query: { status: "4xx", limit: "20" } },
    response: listOf(LogSummaryResponse),
    handle: async ({ ctx, query }) =>
      listJson(await ctx.replica.run(ctx, (from) => listCalls(from, query)), presentLogSummary),
  }),
  withApi({
    route: "GET /api/logs/{id}",
    access: { scope: "logs:read" },
    summary: "Get an API call with its request and response, without secrets and contents",
    response: LogResponse,
    handle: async ({ ctx, params }) => presentLog(await getCall(ctx, params.id)),
  }),
];
