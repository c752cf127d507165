import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { EMAIL_FILTER } from "#server/services/emails/read/filter";
import { getUsage, type UsageQuery, usageDaysMax } from "#server/services/metrics/usage";
import { dayMs } from "#server/shared/durations";
import { presentUsage, UsageResponse } from "#server/shared/wire/usage";
import { withApi } from "./pipeline/route";

const daysByDefault = 30;

const Day = z.iso.date("Must be a day in UTC, such as 2026-01-31.");

const UsageParameters = z.strictObject({
  since: Day.optional().describe("The first day, in UTC. Default: 30 days before `until`."),
  until: Day.optional().describe("The last day, in UTC. Default: today."),
  key: z.string().refine(isId, "Must be the id of an API key.").optional().describe("The id of an API key."),
  domain: EMAIL_FILTER.domain,
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Completes the query. The default is the last 30 days. */
function usageQuery(given: z.infer<typeof UsageParameters>, now: Date): UsageQuery {
  const { since, until, key, domain } = given;
  const last =
    until ?? (since && dayOf(Date.parse(since) + (daysByDefault - 1) * dayMs)) ?? dayOf(now.getTime());
  const first = since ?? dayOf(Date.parse(last) - (daysByDefault - 1) * dayMs);
  const days = (Date.parse(last) - Date.parse(first)) / dayMs + 1;
  if (days < 1) throw new AppError("invalid", "Invalid `until`: it is before `since`.");
  if (days > usageDaysMax)
    throw new AppError(
      "invalid",
      `Invalid \`since\`: at most ${usageDaysMax} days per call, but the range has ${days}.`,
    );
  return { since: first, until: last, apiKeyId: key, domain };
}

export const usageRoutes = [
  withApi({
    route: "GET /api/usage",
    access: { scope: "usage:read" },
    summary: "Get recipient counts by day, API key and domain, for up to 92 days",
    description:
      "Counts recipients by their current status, on the day on which their email was accepted, as `GET /api/emails/metrics` does.",
    query: UsageParameters,
    example: { query: { domain: "backstamp.test" } },
    response: UsageResponse,
    handle: async ({ ctx, query: given, verdict }) => {
      const now = ctx.clock();
      const query = usageQuery(given, now);
      return presentUsage(await getUsage(ctx, query), query, now, verdict.limit);
    },
  }),
];
