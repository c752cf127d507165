import { z } from "zod";
import { COUNTED_PROVIDERS } from "#server/mail/provider-class";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { EMAIL_FILTER, TimeText } from "#server/services/emails/read/filter";
import { listDomainNames } from "#server/services/metrics/domains";
import { GRANULARITIES, isTimeZone, startOfDay } from "#server/services/metrics/periods";
import { getMetrics, type MetricsQuery } from "#server/services/metrics/read";
import { METRICS_DIMENSIONS, type MetricsRow } from "#server/services/metrics/sum";
import { hourMs } from "#server/shared/durations";
import {
  METRIC_NAMES,
  METRICS_BY_DEFAULT,
  type Metric,
  MetricsResponse,
  metricsOf,
} from "#server/shared/wire/metrics";
import { withApi } from "../pipeline/route";

const daysByDefault = 6;
const idsMax = 100;
/** As for times. */
const [dayMin, dayMax] = ["1970-01-02", "9998-01-01"];

const When = z
  .union(
    [z.iso.date().refine((day) => day >= dayMin && day < dayMax), TimeText],
    "Must be a date such as 2026-07-01 or a time such as 2026-07-01T09:00:00Z.",
  )
  .describe("A date, which is midnight in the time zone, or a time with zone.");

/** A list separated by commas, without duplicates. */
const listOfNames = <const Name extends string>(names: readonly Name[]) =>
  z
    .string()
    .transform((text, refine): Name[] => {
      const found = [...new Set(text.split(","))];
      const unknown = found.find((name) => !(names as readonly string[]).includes(name));
      if (unknown === undefined) return found as Name[];
      refine.addIssue(`Unknown value "${unknown.slice(0, 60)}". Known: ${names.join(", ")}.`);
      return z.NEVER;
    })
    .describe(`Comma-separated: ${names.join(", ")}.`);

const Ids = z
  .string()
  .transform((text) => [...new Set(text.split(","))])
  .refine((ids) => ids.length <= idsMax, `At most ${idsMax} ids.`)
  .refine((ids) => ids.every(isId), "Must be ids, separated by commas.")
  .describe(`Comma-separated ids, at most ${idsMax}.`);

const noBroadcasts = "There are no broadcasts in this service. Remove the parameter.";

const MetricsParameters = z.strictObject({
  start_date: When.optional().describe("Date or time in ISO 8601. Default: 6 days before `end_date`."),
  end_date: When.optional().describe(
    "Date or time in ISO 8601, exclusive. A date is its midnight. Default: now.",
  ),
  timezone: z
    .string()
    .refine(isTimeZone, "Must be a time zone of the IANA database, such as Europe/Berlin.")
    .default("UTC")
    .describe("The IANA time zone in which periods begin."),
  granularity: z
    .enum(GRANULARITIES, `Must be one of ${GRANULARITIES.join(", ")}.`)
    .default("daily")
    .describe("The length of a period, if `dimensions` has `period`."),
  metrics: listOfNames(METRIC_NAMES)
    .default(METRICS_BY_DEFAULT)
    .describe("Comma-separated names. Default: all but `unknown`, `canceled` and `in_progress`."),
  dimensions: z
    .string()
    .refine((text) => !text.split(",").includes("broadcast"), noBroadcasts)
    .pipe(listOfNames(METRICS_DIMENSIONS))
    .default([])
    .describe(`Comma-separated: ${METRICS_DIMENSIONS.join(", ")}. \`email\` requires \`email_id\`.`),
  domain_id: Ids.optional().describe("Comma-separated ids of sending domains, at most 100."),
  email_id: Ids.optional().describe("Comma-separated ids of emails, at most 100."),
  broadcast_id: z
    .string()
    .refine(() => false, noBroadcasts)
    .optional()
    .describe("Not supported."),
  key: EMAIL_FILTER.key,
  tag: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,256}:[A-Za-z0-9_-]{1,256}$/, "Must be name:value of a tag.")
    .optional()
    .describe("`name:value` of a tag."),
  provider: z
    .enum([...COUNTED_PROVIDERS, "other"], `Must be one of ${[...COUNTED_PROVIDERS, "other"].join(", ")}.`)
    .optional()
    .describe("The recipient's mailbox provider."),
});

type Parameters = z.infer<typeof MetricsParameters>;

/** The range in whole hours, because the counts are by hour. The end is at most the current time. */
function rangeOf({ start_date, end_date, timezone }: Parameters, now: Date): { startAt: Date; endAt: Date } {
  const read = (given: string | Date, round: (hours: number) => number) =>
    typeof given === "string"
      ? startOfDay(given, timezone)
      : new Date(round(given.getTime() / hourMs) * hourMs);
  const end = end_date === undefined ? now : read(end_date, Math.ceil);
  const endAt = end > now ? now : end;
  const startAt = read(start_date ?? new Date(endAt.getTime() - daysByDefault * 24 * hourMs), Math.floor);
  if (startAt > endAt) throw new AppError("invalid", "Invalid `start_date`: it is after `end_date`.");
  return { startAt, endAt };
}

function presentRow(row: MetricsRow, metrics: readonly Metric[], idsByDomain: ReadonlyMap<string, string>) {
  const { period, domain, email, tag, key, provider } = row;
  return {
    ...(period !== undefined && { period }),
    ...(domain !== undefined && { domain_id: idsByDomain.get(domain) ?? null, domain_name: domain }),
    ...(email !== undefined && { email_id: email }),
    ...(tag !== undefined && { tag }),
    ...(key !== undefined && { key_id: key }),
    ...(provider !== undefined && { provider }),
    ...metricsOf(row, metrics),
  };
}

export const emailMetricsRoutes = [
  withApi({
    route: "GET /api/emails/metrics",
    access: { scope: "emails:read" },
    summary: "Get recipient counts and rates by period, domain, tag, key or provider",
    description:
      "Counts recipients by their current status, in the period in which their email was accepted: a retry that succeeds moves a recipient from `bounced` to `delivered`. A key that is limited to domains reads only those.",
    query: MetricsParameters,
    lists: ["metrics", "dimensions", "domain_id", "email_id"],
    example: { query: { metrics: "sent,delivered,bounce_rate", dimensions: "period,domain" } },
    response: MetricsResponse,
    handle: async ({ ctx, query: given }) => {
      const range = rangeOf(given, ctx.clock());
      const { metrics, dimensions, granularity, timezone: timeZone } = given;
      const { domains, idsByName } = await listDomainNames(ctx, given.domain_id);
      const query: MetricsQuery = {
        ...range,
        timeZone,
        granularity,
        dimensions,
        filter: {
          domains,
          apiKeyId: given.key,
          tag: given.tag,
          provider: given.provider,
          emailIds: given.email_id,
        },
      };
      const { totals, rows, isComplete } = await getMetrics(ctx, query);
      return {
        object: "metrics" as const,
        start_date: range.startAt.toISOString(),
        end_date: range.endAt.toISOString(),
        metrics,
        dimensions,
        granularity,
        complete: isComplete,
        totals: metricsOf(totals, metrics),
        ...(dimensions.length > 0 && { data: rows.map((row) => presentRow(row, metrics, idsByName)) }),
      };
    },
  }),
];
