import { getCall, listCalls } from "#server/services/logs/read";
import { listJson } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { LogAnswer, LogSummaryAnswer, LogsQuery, logJson, logSummaryJson } from "./wire/log";
import { listOf } from "./wire/shapes";

export const getLogs = withApi(
  {
    method: "GET",
    path: "/api/logs",
    access: { scope: "logs:read" },
    tier: "other",
    summary: "List recent calls of the API and refusals, newest first, for seven days",
    query: LogsQuery,
    example: { query: { status: "4xx", limit: "20" } },
    answer: listOf(LogSummaryAnswer),
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
    summary: "Show a call with what was asked and answered, secrets and contents left out",
    answer: LogAnswer,
  },
  async ({ ctx, params }) => ({ body: logJson(await getCall(ctx, requireId(params, "id"))) }),
);
