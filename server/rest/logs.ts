import { getCall, listCalls } from "#server/services/logs/read";
import { listOf } from "#server/shared/wire/shapes";
import { listJson } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { requireId } from "./pipeline/validate";
import { LogResponse, LogSummaryResponse, LogsQuery, logJson, logSummaryJson } from "./wire/log";

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
    return { body: listJson(rows.map(logSummaryJson), hasMore) };
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
  async ({ ctx, params }) => ({ body: logJson(await getCall(ctx, requireId(params, "id"))) }),
);
