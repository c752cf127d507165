import { readUsage } from "#server/services/usage";
import { withApi } from "./route";
import { UsageAnswer, UsageParameters, usageJson, usageQuery } from "./wire/usage";

export const getUsage = withApi(
  {
    method: "GET",
    path: "/api/usage",
    access: { scope: "usage:read" },
    tier: "other",
    summary: "Count what became of mail by day, key and domain, up to 92 days",
    query: UsageParameters,
    example: { query: { domain: "posthorn.test" } },
    answer: UsageAnswer,
  },
  async ({ ctx, query: given, verdict }) => {
    const now = ctx.clock();
    const query = usageQuery(given, now);
    return { body: usageJson(await readUsage(ctx, query), query, now, verdict.limit) };
  },
);
