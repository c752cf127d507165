import type { CountsView } from "#server/trpc/overview/traffic-view";
import type { Tone } from "../../_ui/text/statuses";

/**
 * Limits of mailbox providers, in percent of the recipients that `of` names and `rateOf` counts.
 * Gmail and Yahoo: keep the spam rate below 0.1%, and never reach 0.3%. Bounces: Amazon SES reviews accounts
 * from 5% on; below 2% is its recommendation.
 * https://support.google.com/a/answer/81126, https://senders.yahooinc.com/best-practices/,
 * https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-bounce-rate.html
 */
export const LIMITS = {
  bounce_rate: { label: "Bounce rate", of: "sent", target: 2, max: 5, note: "target below 2%, limit 5%" },
  complaint_rate: {
    label: "Complaint rate",
    of: "sent, excluding bounces",
    target: 0.1,
    max: 0.3,
    note: "target below 0.1%, limit 0.3%",
  },
} as const;
export type LimitedRate = keyof typeof LIMITS;

/** Good below the target, bad from the limit on. */
export const toneOfRate = (name: LimitedRate, percent: number): Tone =>
  percent < LIMITS[name].target ? "good" : percent < LIMITS[name].max ? "warn" : "bad";

/** With fewer recipients than this a rate is not meaningful. */
export const recipientsMin = 100;

/** For example `99.2%`, `0.08%`. */
export const formatPercent = (percent: number): string =>
  `${percent.toLocaleString("en", percent > 0 && percent < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 1 })}%`;

/** How a count or a rate changed from the previous period: `+8%` of a count, `+0.3 points` of a rate. */
export function formatChange(now: number, before: number, isRate: boolean): string {
  const change = isRate ? now - before : before === 0 ? 0 : ((now - before) / before) * 100;
  const text = Math.abs(change).toLocaleString("en", {
    maximumFractionDigits: isRate && Math.abs(change) < 1 ? 2 : isRate ? 1 : 0,
  });
  const sign = text === "0" ? "±" : change > 0 ? "+" : "−";
  return `${sign}${text}${isRate ? " points" : "%"}`;
}

/** The rate; null if it is of too few recipients. */
export const rateOrNull = (
  { metrics, rateOf }: CountsView,
  name: LimitedRate | "delivery_rate",
): number | null => (rateOf[name] < recipientsMin ? null : metrics[name]);
