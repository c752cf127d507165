import type { HotSql } from "#db/client";
import { changePartitions, firstIdAt, listPartitions, readSize, timeOfId } from "#db/partitions";
import type { WorkerDeps } from "#server/deps";
import { EMAIL_TABLES } from "./partitions";

/** What expires together: message content, or whole emails with all that belongs to them. */
const STAGES = {
  emails: { days: "emails_days", tables: EMAIL_TABLES.map(({ table }) => table) },
  bodies: { days: "bodies_days", tables: ["email_bodies", "attachments", "captured_messages"] },
} as const;
type Stage = keyof typeof STAGES;

const callsBatch = 5_000;

/** A partition whose rows have all expired, as it was when they were read. */
type Expired = {
  /** The names of the partitions by table. */
  names: Map<string, string>;
  from: string | null;
  to: string;
  emails: number;
  teamIds: string[];
  /** Its teams with their periods and last events. It is the same only while no row of the partition changes its status. */
  state: string;
};

/**
 * Empties the partitions whose rows have all expired by the retention rules of their teams, which frees their space at once.
 * What `expireBatch` requires for an email applies to each email: its deliveries are terminal and, to delete it, its events are counted
 * and reported. Emails are partitioned by time, so what remains is deleted in rows.
 */
export async function emptyExpiredPartitions(
  { hot, log }: WorkerDeps,
  shouldContinue: () => boolean,
): Promise<void> {
  const [now] = await hot<{ ms: number }[]>`select (extract(epoch from now()) * 1000)::float8 as ms`;
  if (!now) return;
  for (const range of await listPartitions(hot, "emails")) {
    const { from, to } = range;
    if (to === null || timeOfId(to) >= now.ms) return;
    for (const stage of ["emails", "bodies"] as const) {
      if (!shouldContinue()) return;
      const names = await namesOf(hot, { from, to });
      if (!names) continue;
      const expired = await readExpired(hot, { names, from, to, stage, nowMs: now.ms });
      if (!expired || !(await empty(hot, expired, stage))) continue;
      const until = new Date(timeOfId(to)).toISOString();
      log.info("retention.partition_emptied", { stage, until, emails: expired.emails });
    }
  }
}

/** The partitions of this range; null while a table does not have the range yet. */
async function namesOf(hot: HotSql, { from, to }: Bounds): Promise<Map<string, string> | null> {
  const names = new Map<string, string>();
  for (const { table } of EMAIL_TABLES) {
    const found = (await listPartitions(hot, table)).find((one) => one.from === from && one.to === to);
    if (!found) return null;
    names.set(table, found.name);
  }
  return names;
}

type Range = Pick<Expired, "names" | "from" | "to"> & { stage: Stage; nowMs: number };

/** Reads whether all rows of a stage have expired, the cheapest conditions first. Null if not, or if there are none. */
async function readExpired(hot: HotSql, { names, from, to, stage, nowMs }: Range): Promise<Expired | null> {
  const nameOf = (table: string) => names.get(table) ?? table;
  const sizes = await Promise.all(STAGES[stage].tables.map((table) => readSize(hot, nameOf(table))));
  if (sizes.every((size) => size === 0)) return null;
  const { days } = STAGES[stage];
  const teams = await readTeams(hot, nameOf("emails"), nameOf("email_events"), days);
  if (teams.some((team) => team.days === null || to > firstIdAt(nowMs - team.days * 86_400_000))) return null;
  if (stage === "emails" && (await isNeeded(hot, { from, to }, teams))) return null;
  // The time in an id can be too early, so `created_at` counts.
  const [rows] = await hot.unsafe<{ emails: number; kept: boolean }[]>(`
    select count(*)::int as emails, coalesce(bool_or(e.created_at >= now() - r.${days} * interval '1 day'), false)
      or exists (select from ${nameOf("deliveries")} d
        where not (d.status in ('delivered', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')
          or (d.status = 'sent' and d.updated_at < now() - interval '14 days'))) as kept
    from ${nameOf("emails")} e join retention r on r.team_id = e.team_id`);
  if (!rows || rows.kept) return null;
  const teamIds = teams.map(({ teamId }) => teamId);
  return { names, from, to, emails: rows.emails, teamIds, state: JSON.stringify(teams) };
}

type TeamState = { teamId: string; days: number | null; position: string | null; eventId: string | null };

/** The teams of a partition, one index step each, with their period and their last event in it. */
const readTeams = async (
  sql: Pick<HotSql, "unsafe">,
  emails: string,
  events: string,
  days: string,
): Promise<TeamState[]> => [
  ...(await sql.unsafe<TeamState[]>(`
    with recursive team as (
      (select team_id from ${emails} order by team_id limit 1)
      union all
      select (select e.team_id from ${emails} e where e.team_id > t.team_id order by e.team_id limit 1) from team t
      where t.team_id is not null
    )
    select t.team_id as "teamId", r.${days} as days, l.position::text, l.id as "eventId"
    from team t left join retention r on r.team_id = t.team_id
      left join lateral (select e.position, e.id from ${events} e where e.team_id = t.team_id
        order by e.position desc, e.id desc limit 1) l on true
    where t.team_id is not null order by t.team_id`)),
];

/** Whether events of the emails are not counted in usage yet, or wait to be reported to an endpoint. */
async function isNeeded(
  sql: Pick<HotSql, "unsafe">,
  { from, to }: Bounds,
  teams: TeamState[],
): Promise<boolean> {
  for (const { teamId, position, eventId } of teams) {
    const [row] = await sql.unsafe<{ isNeeded: boolean }[]>(
      `select ($2::bigint is not null and not exists (select from usage_progress p where p.team_id = $1::uuid
          and (p.position, p.event_id) >= ($2::bigint, $3::uuid)))
        or exists (select from webhook_deliveries w where w.team_id = $1::uuid and w.email_id >= $4::uuid
          and w.email_id < $5::uuid and w.status in ('pending', 'attempting')) as "isNeeded"`,
      [teamId, position, eventId, from ?? FIRST, to],
    );
    if (row?.isNeeded) return true;
  }
  return false;
}

type Bounds = { from: string | null; to: string };

const FIRST = "00000000-0000-0000-0000-000000000000";

/** Empties the partitions if nothing changed since they were read. */
async function empty(
  hot: HotSql,
  { names, from, to, state, teamIds }: Expired,
  stage: Stage,
): Promise<boolean> {
  const nameOf = (table: string) => names.get(table) ?? table;
  if (stage === "emails") await deleteCalls(hot, { from, to }, teamIds);
  return changePartitions(hot, async (tx) => {
    // The order of the accepting statement, so that both never wait for each other.
    await tx.unsafe(
      `lock table ${EMAIL_TABLES.map(({ table }) => nameOf(table)).join(", ")} in access exclusive mode`,
    );
    await tx`lock table retention in share mode`;
    const teams = await readTeams(tx, nameOf("emails"), nameOf("email_events"), STAGES[stage].days);
    if (JSON.stringify(teams) !== state || (await hasQueued(tx, nameOf("deliveries")))) return false;
    if (stage === "emails" && (await isNeeded(tx, { from, to }, teams))) return false;
    await tx.unsafe(`truncate ${STAGES[stage].tables.map(nameOf).join(", ")}`);
    return true;
  });
}

/**
 * Whether an email of the partition was sent again: three index lookups. It can have been queued by an older transaction than
 * the one of the last event. All later changes of its status write later events.
 */
async function hasQueued(sql: Pick<HotSql, "unsafe">, deliveries: string): Promise<boolean> {
  const [row] = await sql.unsafe<{ isQueued: boolean }[]>(`
    select exists (select from ${deliveries} where status in ('queued', 'scheduled') and lapses < 3)
      or exists (select from ${deliveries} where status = 'queued' and lapses >= 3)
      or exists (select from ${deliveries} where status = 'sending') as "isQueued"`);
  return row?.isQueued === true;
}

/** Deletes the event deliveries of all emails of a range, which have ended. */
async function deleteCalls(hot: HotSql, { from, to }: Bounds, teamIds: string[]): Promise<void> {
  for (const id of teamIds)
    for (;;) {
      const { count } = await hot`
        delete from webhook_deliveries where team_id = ${id} and id in (
          select id from webhook_deliveries
          where team_id = ${id} and email_id >= ${from ?? FIRST} and email_id < ${to} and status in ('success', 'failed')
          order by id limit ${callsBatch} for update skip locked)`;
      if (count < callsBatch) break;
    }
}
