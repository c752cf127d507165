import type { HotSql } from "#db/client";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";

/** The period of all rates. */
export const rateHours = 24;
/** With fewer recipients than this in the period, a rate is not meaningful. */
export const rateRecipientsMin = 100;

/**
 * Limits of a domain's rates. An alert opens above `share` and is resolved below `resolvedShare`. Amazon SES
 * reviews accounts above 5% bounces and 0.1% complaints, Gmail asks for less than 0.1% spam reports.
 * https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-bounce-rate.html,
 * https://support.google.com/a/answer/81126
 */
export const RATE_LIMITS = {
  bounced: { share: 0.05, resolvedShare: 0.04, countMin: 5 },
  complained: { share: 0.001, resolvedShare: 0.0008, countMin: 2 },
} as const;

/** Recipients of one team, or of one of its domains. */
export type Recipients = {
  teamId: string;
  /** Accepted by a relay or delivered. */
  reached: number;
  bounced: number;
  complained: number;
};

/**
 * The share of recipients with that result, and of how many. Each result counts at the time of its event, as
 * providers count them: a bounce of today counts today whenever its email was accepted.
 */
export function rateOf(
  of: Recipients,
  result: "bounced" | "complained",
): { share: number; count: number; recipients: number } {
  const recipients = result === "bounced" ? of.reached + of.bounced : of.reached;
  const count = of[result];
  return { share: recipients === 0 ? 0 : count / recipients, count, recipients };
}

// A recipient who bounces after the email was sent leaves those who were reached, who may be of another day.
const RESULTS = `greatest(0, sum(c.sent + c.delivered + c.complained))::float8 as reached,
  sum(c.bounced_permanent + c.bounced_transient + c.bounced_undetermined)::float8 as bounced,
  sum(c.complained)::float8 as complained`;
const RECENT = `teams t join recipient_totals c on c.team_id = t.id and c.dimension = 'result' and c.unit = 'hour'
  and c.starts_at > now() - interval '${rateHours} hours' and c.value <> '${BUILT_IN_DOMAIN}'`;

/** The results of the last 24 hours by domain, of the domains with bounces or complaints. */
export const listDomainRates = (hot: HotSql): Promise<(Recipients & { domain: string })[]> =>
  hot.unsafe(`
    select * from (
      select c.team_id as "teamId", c.value as domain, ${RESULTS} from ${RECENT} group by c.team_id, c.value
    ) r where bounced >= ${RATE_LIMITS.bounced.countMin} or complained >= ${RATE_LIMITS.complained.countMin}`);

/**
 * The results of the last 24 hours by team, of the teams that are not paused. After a release, only what
 * happened since the next full hour counts: the team is not paused again for what it was released from.
 */
export const listTeamRates = (hot: HotSql): Promise<Recipients[]> =>
  hot.unsafe(`
    with pause as materialized (
      select team_id, max(lifted_at) as lifted_at, bool_or(lifted_at is null) as is_paused from queue_pauses
      where team_id is not null and domain is null group by team_id
    )
    select c.team_id as "teamId", ${RESULTS} from ${RECENT} left join pause p on p.team_id = c.team_id
    where p.team_id is null or (not p.is_paused and c.starts_at >= p.lifted_at)
    group by c.team_id having sum(c.bounced_permanent + c.bounced_transient + c.bounced_undetermined + c.complained) > 0`);

/** For example `5.2% of 1,000 recipients`. */
export const formatRate = ({ share, recipients }: { share: number; recipients: number }): string =>
  `${formatShare(share)} of ${recipients.toLocaleString("en")} recipients`;

/** For example `12.3%`, `5%`, `0.12%`. */
export const formatShare = (share: number): string =>
  `${(share * 100).toLocaleString("en", share < 0.01 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 1 })}%`;
