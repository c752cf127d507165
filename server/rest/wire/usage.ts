import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import {
  USAGE_COUNTS,
  type Usage,
  type UsageCounts,
  type UsageQuery,
  usageDaysMax,
} from "#server/services/usage/usage";
import { Id, Time } from "#server/shared/wire/shapes";
import { EMAIL_FILTER } from "./email-query";

const dayMs = 86_400_000;
const daysByDefault = 30;

const Day = z.iso.date("Must be a day in UTC, such as 2026-01-31.");

/** The query of `GET /api/usage`. */
export const UsageParameters = z.strictObject({
  since: Day.optional(),
  until: Day.optional(),
  key: z.string().refine(isId, "Must be the id of an API key.").optional(),
  domain: EMAIL_FILTER.domain,
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Completes the query. The default is the last 30 days. */
export function usageQuery(given: z.infer<typeof UsageParameters>, now: Date): UsageQuery {
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

const Count = z.int();
const Counts = z.object({
  accepted: Count,
  sent: Count,
  delivered: Count,
  bounced: Count,
  complained: Count,
  failed: Count,
  suppressed: Count,
  unknown: Count,
} satisfies Record<keyof UsageCounts, z.ZodType>);
const Window = z.object({ used: Count, limit: z.null(), sent: Count, received: Count, resets_at: Time });
const DayDate = z.iso.date();

export const UsageResponse = z
  .object({
    object: z.literal("usage"),
    since: DayDate,
    until: DayDate,
    complete: z.boolean().describe("False while the counts of older events are still being aggregated."),
    total: Counts,
    days: z.array(
      z.object({
        day: DayDate,
        api_key_id: Id.nullable(),
        api_key_name: z.string().nullable(),
        domain: z.string(),
        ...Counts.shape,
      }),
    ),
    emails: z.object({ daily: Window, monthly: Window }),
    domains: z.object({ used: Count, limit: z.null() }),
    rate_limit: z.object({ limit: Count, duration: z.literal("1m") }),
  })
  .meta({ id: "Usage" });

/** Resend's shape, with the counts per day in addition. Only the rate of calls has a limit. */
export function usageJson(
  usage: Usage,
  { since, until }: UsageQuery,
  now: Date,
  callsPerMinute: number,
): z.infer<typeof UsageResponse> {
  const total = Object.fromEntries(
    USAGE_COUNTS.map((name) => [name, usage.lines.reduce((sum, line) => sum + line[name], 0)]),
  ) as UsageCounts;
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return {
    object: "usage",
    since,
    until,
    complete: usage.isComplete,
    total,
    days: usage.lines.map(({ day, apiKeyId, keyName, domain, ...counts }) => ({
      day,
      api_key_id: apiKeyId,
      api_key_name: keyName,
      domain,
      ...counts,
    })),
    emails: {
      daily: window(usage.today, Date.UTC(year, month, day + 1)),
      monthly: window(usage.month, Date.UTC(year, month + 1, 1)),
    },
    domains: { used: usage.domains, limit: null },
    rate_limit: { limit: callsPerMinute, duration: "1m" },
  };
}

const window = ({ accepted, sent }: UsageCounts, endsAtMs: number) => ({
  used: accepted,
  limit: null,
  sent,
  received: 0,
  resets_at: new Date(endsAtMs).toISOString(),
});
