import { z } from "zod";
import { isId } from "#server/platform/ids";
import { getCall, type LogFilter, listCalls } from "#server/services/logs/read";
import type { PageQuery } from "#server/services/paging";
import { LogResponse, LogSummaryResponse, presentLog, presentLogSummary } from "#server/shared/wire/log";
import { listOf } from "#server/shared/wire/shapes";
import { listJson, PAGING, rejectTwoCursors } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { requireId } from "./pipeline/validate";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** One status, or a class of statuses. */
const Status = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/, "Must be a status such as 429, or a status class such as 4xx.")
  .transform((text) => ({ from: Number(text.replace("xx", "00")), to: Number(text.replace("xx", "99")) }));

const LogsQuery = z
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

export const getLogs = withApi(
  {
    method: "GET",
    path: "/api/logs",
    access: { scope: "logs:read" },
    tier: "other",
    summary: "List API calls of the last seven days, including rejected ones, newest first",
    query: LogsQuery,
    example: { query: { status: "4xx", limit: "20" } },
    response: listOf(LogSummaryResponse),
  },
  async ({ ctx, query }) => {
    const { rows, hasMore } = await listCalls(ctx, query);
    return { body: listJson(rows.map(presentLogSummary), hasMore) };
  },
);

export const getOneLog = withApi(
  {
    method: "GET",
    path: "/api/logs/{id}",
    access: { scope: "logs:read" },
    tier: "other",
    summary: "Get an API call with its request and response, without secrets and contents",
    response: LogResponse,
  },
  async ({ ctx, params }) => ({ body: presentLog(await getCall(ctx, requireId(params, "id"))) }),
);
