import { readUsage } from "#server/services/usage/usage";
import { withApi } from "./pipeline/route";
import { UsageParameters, UsageResponse, usageJson, usageQuery } from "./wire/usage";

export const getUsage = withApi(
  {
    method: "GET",
    path: "/api/usage",
    access: { scope: "usage:read" },
    tier: "other",
    summary: "Get email counts by day, API key and domain, for up to 92 days",
    query: UsageParameters,
    example: { query: { domain: "backstamp.test" } },
    response: UsageResponse,
  },
  async ({ ctx, query: given, verdict }) => {
    const now = ctx.clock();
    const query = usageQuery(given, now);
    return { body: usageJson(await readUsage(ctx, query), query, now, verdict.limit) };
  },
);
