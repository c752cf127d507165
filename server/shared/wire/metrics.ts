import { z } from "zod";
import type { RecipientSums } from "#db/schema/events";
import { Id, type Presented, Time } from "./shapes";

/** Recipients by their current status and what they did, as `getMetrics` sums them. */
export type CountedRecipients = Presented<RecipientSums>;

type Definition = { unit: "recipients" | "events" | "percent"; meaning: string };
type Count = (counts: CountedRecipients) => number;

const bounced: Count = (c) => c.bounced_permanent + c.bounced_transient + c.bounced_undetermined;
/** Accepted by a relay or by the recipient's server, and not returned. */
export const reached: Count = (c) => c.sent + c.delivered + c.complained;
const attempted: Count = (c) => reached(c) + bounced(c);
const percentOf = (part: number, of: number): number => (of === 0 ? 0 : Math.round((part / of) * 1e6) / 1e4);

/** Every metric: its value from the counts, and its definition for the API reference. */
const METRICS = {
  received: [(c) => c.received, "recipients", "Recipients of accepted emails."],
  delivered: [
    (c) => c.delivered + c.complained,
    "recipients",
    "Delivered. Recipients who complained received the email and count, too.",
  ],
  complained: [(c) => c.complained, "recipients", "Marked the email as spam."],
  suppressed: [(c) => c.suppressed, "recipients", "On the suppression list; nothing was sent."],
  bounced: [bounced, "recipients", "Permanently rejected, or returned by a bounce."],
  bounced_transient: [(c) => c.bounced_transient, "recipients", "Bounced with a 4xx status."],
  bounced_permanent: [(c) => c.bounced_permanent, "recipients", "Bounced with a 5xx status."],
  bounced_undetermined: [(c) => c.bounced_undetermined, "recipients", "Bounced without a status code."],
  opened: [(c) => c.opens, "events", "Opens by readers, without prefetches and scanners."],
  clicked: [(c) => c.clicks, "events", "Clicks by readers, without prefetches and scanners."],
  unsubscribed: [(c) => c.unsubscribed, "recipients", "Unsubscribed by the link of the email."],
  delivery_delayed: [
    (c) => c.delayed,
    "recipients",
    "Temporarily rejected at least once, whatever the status is now.",
  ],
  failed: [(c) => c.failed, "recipients", "Failed without a rejection by the recipient's server."],
  sent: [attempted, "recipients", "Sent: accepted by a relay, delivered, bounced or complained."],
  unique_opened: [(c) => c.openers, "recipients", "Opened the email at least once."],
  unique_clicked: [(c) => c.clickers, "recipients", "Clicked a link at least once."],
  delivery_rate: [
    (c) => percentOf(c.delivered + c.complained, attempted(c)),
    "percent",
    "`delivered` of `sent`. A relay without callbacks reports no deliveries.",
  ],
  open_rate: [
    (c) => percentOf(c.openers, c.opens_tracked),
    "percent",
    "`unique_opened` of the recipients of emails with open tracking, without bounces.",
  ],
  click_rate: [
    (c) => percentOf(c.clickers, c.clicks_tracked),
    "percent",
    "`unique_clicked` of the recipients of emails with click tracking, without bounces.",
  ],
  bounce_rate: [(c) => percentOf(bounced(c), attempted(c)), "percent", "`bounced` of `sent`."],
  complaint_rate: [
    (c) => percentOf(c.complained, reached(c)),
    "percent",
    "`complained` of `sent` without `bounced`.",
  ],
  unsubscribe_rate: [
    (c) => percentOf(c.unsubscribed, reached(c)),
    "percent",
    "`unsubscribed` of `sent` without `bounced`.",
  ],
  in_progress: [
    (c) => c.received - attempted(c) - c.failed - c.unknown - c.suppressed - c.canceled,
    "recipients",
    "Queued, scheduled, sending or deferred.",
  ],
  unknown: [(c) => c.unknown, "recipients", "Unknown outcome."],
  canceled: [(c) => c.canceled, "recipients", "Canceled before sending."],
} as const satisfies Record<string, readonly [Count, Definition["unit"], string]>;

export type Metric = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as Metric[];

const OWN_METRICS: ReadonlySet<Metric> = new Set(["in_progress", "unknown", "canceled"]);
/** The metrics of Resend's API. */
export const METRICS_BY_DEFAULT = METRIC_NAMES.filter((name) => !OWN_METRICS.has(name));

/** The values of these metrics. */
export const metricsOf = <Name extends Metric>(
  counts: CountedRecipients,
  names: readonly Name[],
): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, METRICS[name][0](counts)])) as Record<Name, number>;

const Values = z.object(
  Object.fromEntries(
    METRIC_NAMES.map((name) => {
      const [, unit, meaning] = METRICS[name];
      return [name, z.number().optional().describe(`${meaning} Unit: ${unit}.`)];
    }),
  ) as Record<Metric, z.ZodOptional<z.ZodNumber>>,
);

export const MetricsResponse = z
  .object({
    object: z.literal("metrics"),
    start_date: Time.describe("A time within an hour was moved to the start of the hour."),
    end_date: Time.describe("A time within an hour was moved to its end, but not into the future."),
    metrics: z.array(z.string()),
    dimensions: z.array(z.string()),
    granularity: z.string(),
    complete: z.boolean().describe("False while older events are still being counted."),
    totals: Values,
    data: z
      .array(
        z.object({
          period: z
            .string()
            .optional()
            .describe("The first day, such as `2026-07-01`, or the start of an hour in UTC."),
          domain_id: Id.nullable().optional().describe("Null if the domain was deleted."),
          domain_name: z.string().optional(),
          email_id: Id.optional(),
          tag: z
            .string()
            .optional()
            .describe("`name:value`, or `other` for tags that are not counted separately."),
          key_id: Id.nullable().optional().describe("Null for emails without an API key."),
          provider: z.string().optional().describe("gmail, microsoft, yahoo, apple or other."),
          ...Values.shape,
        }),
      )
      .optional()
      .describe("Absent without dimensions."),
  })
  .meta({ id: "Metrics" });
