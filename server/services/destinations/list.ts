import type { Deps } from "#server/deps";

/** At most this many waiting deliveries of a destination are counted. */
const waitingCountMax = 10_000;
const destinationsMax = 500;

/** Why a destination gets email more slowly than possible; null if it does not. */
export type DestinationReason = "objection" | "new" | "operator" | null;

/** A destination that was sent email in the last 90 days, or that email waits for. */
export type DestinationOverview = {
  destination: string;
  /** The address that email is sent from; null if no state was learned yet. */
  source: string | null;
  /** Connections and transactions per minute of all workers, as learned; null without a limit. */
  connections: number | null;
  perMinute: number | null;
  accepted: number;
  /** What limits it now. */
  reason: DestinationReason;
  /** The latest reply that lowered its limits, and when; null while none is in effect. */
  reply: string | null;
  objectedAt: Date | null;
  blockedUntil: Date | null;
  /** Deliveries that wait for it, up to 10,000. */
  waiting: number;
};

/**
 * Destinations of direct delivery: those that nothing may be sent to at the moment first, then by the number
 * of deliveries that wait, at most 500. `@example.com` is the operator's limit for recipients at example.com.
 */
export async function listDestinations({ hot }: Pick<Deps, "hot">): Promise<DestinationOverview[]> {
  return hot<DestinationOverview[]>`
    with recursive waiting as (
      (select min(destination) as name from queue where destination is not null)
      union all
      select (select min(destination) from queue where destination > w.name) from waiting w where w.name is not null
    ), counted as (
      select w.name, (select count(*)::int from (
        select from queue where destination = w.name limit ${waitingCountMax}) q) as waiting
      from waiting w where w.name is not null
    ), state as (
      select s.*, blocked_until > now() as is_blocked,
        case when objected_at > now() - interval '1 day' then per_minute end as rate
      from destination_states s
    )
    select coalesce(s.destination, c.name) as destination, s.source, s.connections, s.rate as "perMinute",
      coalesce(s.accepted, 0)::float8 as accepted, coalesce(c.waiting, 0) as waiting,
      case when s.is_blocked or s.rate is not null then 'objection'
        when exists (select from destination_limits l where l.domain = ltrim(coalesce(s.destination, c.name), '@')) then 'operator'
        when s.accepted < 1000 then 'new' end as reason,
      case when s.is_blocked or s.rate is not null then s.reason end as reply,
      case when s.is_blocked or s.rate is not null then s.objected_at end as "objectedAt",
      case when s.is_blocked then s.blocked_until end as "blockedUntil"
    from state s full join counted c on c.name = s.destination
    order by s.is_blocked desc nulls last, c.waiting desc nulls last, s.rate, destination limit ${destinationsMax}`;
}
