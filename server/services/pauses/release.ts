import type { HotSql } from "#db/client";
import { runPrepared } from "#db/statement";
import { firstId } from "#server/platform/ids";
import { IS_WAITING } from "./waiting";

/** Rows that one statement reads. */
const releaseBatch = 5_000;
/** A lifted pause is kept this long, as a record. */
const recordDays = 90;
const deleteBatch = 1_000;

type LiftedPause = { id: string; teamId: string; domain: string };

/**
 * Makes the deliveries due that lifted pauses of domains had postponed, in batches, and deletes old records
 * of pauses. Returns how many became due. Interrupted, the next call continues. Pauses of a team or the
 * installation postpone no row: their deliveries are not claimed (`CLAIM_FAIR_SHARES`), and are due when the
 * pause ends.
 */
export async function releaseResumed(hot: HotSql): Promise<number> {
  const lifted = await hot<LiftedPause[]>`
    select id, team_id as "teamId", domain from queue_pauses
    where lifted_at is not null and released_at is null order by lifted_at`;
  let released = 0;
  for (const pause of lifted) {
    for (const priority of [0, 1, 2]) released += await releasePriority(hot, pause, priority);
    const suspects = await hot.unsafe(RELEASE_SUSPECTS, [pause.teamId, pause.domain]);
    released += suspects.count;
    await hot`update queue_pauses set released_at = now() where id = ${pause.id}`;
  }
  await hot`
    delete from queue_pauses where id in (
      select id from queue_pauses where released_at < now() - ${recordDays} * interval '1 day' limit ${deleteBatch})`;
  return released;
}

async function releasePriority(
  hot: HotSql,
  { teamId, domain }: LiftedPause,
  priority: number,
): Promise<number> {
  let released = 0;
  for (let after = firstId; ; ) {
    const [batch] = await runPrepared<{ read: number; last: string | null; released: number }>(
      hot,
      RELEASE_BATCH,
      [teamId, domain, priority, after, releaseBatch],
    );
    released += batch?.released ?? 0;
    if (!batch || batch.last === null || batch.read < releaseBatch) return released;
    after = batch.last;
  }
}

// Postponed deliveries are at the end of each priority in the index that claims use. No delivery is postponed
// after its pause was lifted, because each statement that postpones one locks the pause (see
// `POSTPONE_PAUSED` and `release`).
const RELEASE_BATCH = `
with parked as materialized (
  select q.id, q.team_id, q.email_id from queue q
  where ${IS_WAITING} and q.team_id = $1 and q.priority = $3::smallint and q.due_at = 'infinity' and q.id > $4
  order by q.id limit $5::int
), mine as materialized (
  select d.team_id, d.email_id, d.id
  from parked p join deliveries d using (team_id, email_id, id) join emails e on e.team_id = p.team_id and e.id = p.email_id
  where d.status = 'queued' and d.wait_rule = 'domain_paused' and e.sender_domain = $2
  order by d.id for no key update of d
), released as (
  update deliveries d set due_at = now(), wait_rule = null, updated_at = now() from mine
  where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id) returning d.id
)
select (select count(*)::int from parked) as read, (select id from parked order by id desc limit 1) as last,
  (select count(*)::int from released) as released`;

// Suspects (`claimSuspects`) are few, and in an index of their own.
const RELEASE_SUSPECTS = `
with mine as materialized (
  select d.team_id, d.email_id, d.id
  from queue q join deliveries d using (team_id, email_id, id) join emails e on e.team_id = q.team_id and e.id = q.email_id
  where q.lapses >= 3 and q.due_at = 'infinity' and d.wait_rule = 'domain_paused' and q.team_id = $1
    and e.sender_domain = $2
  order by d.id for no key update of d
)
update deliveries d set due_at = now(), wait_rule = null, updated_at = now() from mine
where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id)`;
