import type { HotSql } from "#db/client";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";

/** The period of all rates. */
export const rateHours = 24;
/** With fewer recipients than this in the period, a rate is not meaningful. */
export const rateRecipientsMin = 100;

/**
 * Limits of a domain's rates. An alert opens above `share` and is resolved below `resolvedShare`. Amazon SES
 * reviews accounts above 5% bounces and 0.1% complaints, Gmail asks for less than 0.1% spam reports.
 * https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-bounce-rate.html, https://support.google.com/a/answer/81126
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
 * providers count them: a bounce of today counts today whenever its email was accepted, and each further
 * attempt that bounces counts again. The overview counts each recipient once, in its current status.
 */
export function rateOf(
  of: Recipients,
  result: "bounced" | "complained",
): { share: number; count: number; recipients: number } {
  const recipients = result === "bounced" ? of.reached + of.bounced : of.reached;
  const count = of[result];
  return { share: recipients === 0 ? 0 : count / recipients, count, recipients };
}

// `sent` (250 of a relay) and `delivered` (reported later by its provider) count the same recipient.
const REACHED = "greatest(sum(u.sent), sum(u.delivered))::float8";
const RESULTS = "sum(u.bounced)::float8 as bounced, sum(u.complained)::float8 as complained";
const isRecent = `u.hour > now() - interval '${rateHours} hours' and u.domain <> '${BUILT_IN_DOMAIN}'`;

/** The results of the last 24 hours by domain, of the domains with bounces or complaints. */
export const readDomainRates = (hot: HotSql): Promise<(Recipients & { domain: string })[]> =>
  hot.unsafe(`
    select u.team_id as "teamId", u.domain, ${REACHED} as reached, ${RESULTS} from usage_hours u where ${isRecent}
    group by u.team_id, u.domain having sum(u.bounced) >= ${RATE_LIMITS.bounced.countMin}
      or sum(u.complained) >= ${RATE_LIMITS.complained.countMin}`);

/**
 * The results of the last 24 hours by team, of the teams that are not paused. After a release, only what
 * happened since the next full hour counts: the team is not paused again for what it was released from.
 */
export const readTeamRates = (hot: HotSql): Promise<Recipients[]> =>
  hot.unsafe(`
    with lifted as materialized (
      select team_id, max(lifted_at) as at from queue_pauses
      where team_id is not null and domain is null and lifted_at is not null group by team_id
    ), of_domain as (
      select u.team_id, ${REACHED} as reached, ${RESULTS}
      from usage_hours u left join lifted l on l.team_id = u.team_id
      where ${isRecent} and (l.at is null or u.hour >= l.at)
        and not exists (select from queue_pauses p where p.team_id = u.team_id and p.domain is null and p.lifted_at is null)
      group by u.team_id, u.domain
    )
    select team_id as "teamId", sum(reached)::float8 as reached, sum(bounced)::float8 as bounced,
      sum(complained)::float8 as complained
    from of_domain group by team_id having sum(bounced) + sum(complained) > 0`);

/** For example `5.2% of 1,000 recipients`. */
export const formatRate = ({ share, recipients }: { share: number; recipients: number }): string =>
  `${formatShare(share)} of ${recipients.toLocaleString("en")} recipients`;

/** For example `12.3%`, `5%`, `0.12%`. */
export const formatShare = (share: number): string =>
  `${(share * 100).toLocaleString("en", share < 0.01 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 1 })}%`;
