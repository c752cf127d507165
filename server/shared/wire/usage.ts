import { z } from "zod";
import { type CountedRecipients, metricsOf } from "./metrics";
import { Id, Time } from "./shapes";

const Count = z.int();
const USAGE_COUNTS = [
  "accepted",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "unknown",
] as const;
type UsageCounts = Record<(typeof USAGE_COUNTS)[number], number>;

/** The counts of usage, with the definitions of the metrics. */
export const usageOf = (counts: CountedRecipients): UsageCounts => {
  const [, ...metrics] = USAGE_COUNTS;
  return { accepted: counts.received, ...metricsOf(counts, metrics) };
};

const Counts = z.object(
  Object.fromEntries(USAGE_COUNTS.map((name) => [name, Count])) as Record<keyof UsageCounts, z.ZodInt>,
);
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

/** The recipients of the emails of one day, key and domain. */
type UsageLine = UsageCounts & {
  day: string;
  apiKeyId: string | null;
  /** Also for a revoked key; null if the email was accepted without a key. */
  keyName: string | null;
  domain: string;
};

export type Usage = {
  lines: UsageLine[];
  /** Of the whole team, independent of the query. */
  today: UsageCounts;
  month: UsageCounts;
  domains: number;
  /** False while older events are still being counted. */
  isComplete: boolean;
};

/** Resend's shape, with the counts per day in addition. Only the rate of calls has a limit. */
export function presentUsage(
  usage: Usage,
  { since, until }: { since: string; until: string },
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
