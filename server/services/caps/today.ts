import type { HotSql } from "#db/client";
import type { CapRule } from "#db/schema/deliveries";
import { runPrepared } from "#db/statement";

/** The day that recipients are counted on: the date of the transaction, in UTC. */
export const TODAY = "(now() at time zone 'utc')::date";

/** The scope of a cap: a domain, or the whole team if `domain` is "". */
export type CapScope = { teamId: string; domain: string };

/** What is left of a cap, in recipients. */
export type Room = CapScope & { room: number; rule: CapRule };

/** SQL for today's caps of these teams and domains. Of several limits, the lowest applies, with its rule. */
export const capsOf = (pairs: string) => `
  select t.id as team_id, '' as domain, t.daily_cap as cap, 'team_daily_cap' as rule
  from (select distinct team_id from ${pairs}) p join teams t on t.id = p.team_id where t.daily_cap is not null
  union all
  select d.team_id, d.name, least(d.daily_cap, w.allows),
    case when w.allows < d.daily_cap or d.daily_cap is null then 'warm_up' else 'daily_cap' end
  from ${pairs} p join domains d on d.team_id = p.team_id and d.name = p.domain
    cross join lateral warm_up_allows(d.warm_up_from, d.warm_up_first, d.warm_up_growth, d.warm_up_target, ${TODAY})
      as w(allows)
  where d.daily_cap is not null or w.allows is not null`;

/**
 * What is left of today's caps for these teams and their domains; scopes without a cap are omitted. Reserves
 * nothing.
 */
export async function listRemainingCaps(hot: HotSql, scopes: readonly CapScope[]): Promise<Room[]> {
  const columns = [scopes.map(({ teamId }) => teamId), scopes.map(({ domain }) => domain)];
  return runPrepared<Room>(hot, READ_REMAINING_CAPS, columns);
}

const READ_REMAINING_CAPS = `
with pair as materialized (
  select * from unnest($1::uuid[], $2::text[]) as p(team_id, domain)
), capped as materialized (${capsOf("pair")})
select c.team_id as "teamId", c.domain, greatest(0, c.cap - coalesce(s.handed_over, 0)) as room, c.rule
from capped c left join sending_days s on s.team_id = c.team_id and s.domain = c.domain and s.day = ${TODAY}`;
