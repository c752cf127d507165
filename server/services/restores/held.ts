import { desc, sql } from "drizzle-orm";
import { z } from "zod";
import { restores } from "#db/schema/audit";
import type { DeliveryKey } from "#db/schema/deliveries";
import type { Ctx, Deps } from "#server/deps";
import { firstId } from "#server/platform/ids";
import { type Command, recordAuditHot } from "../audit/record";
import { lockEmails, recordStatusEvents, refreshEmailStatus } from "../emails/status";
import { encodePosition, parsePosition } from "../parts";
import { IS_WAITING } from "../pauses/waiting";

/*
 * After a restore, every delivery that was queued, scheduled or sending at the time of the backup is held: it
 * may have been sent since. It has the wait rule `restored` and the due time `infinity`, which no worker
 * claims, until an owner, an admin or the operator decides.
 */

const IS_HELD = "d.status in ('queued', 'scheduled') and d.due_at = 'infinity' and d.wait_rule = 'restored'";
/**
 * SQL: the held deliveries of a team, which no worker claims, like those without a relay. The queue has them
 * by priority and id.
 */
const heldOf = (team: string) => `queue q cross join lateral (
    select from deliveries d where (d.team_id, d.email_id, d.id) = (q.team_id, q.email_id, q.id) and ${IS_HELD} offset 0
  ) as held
  where ${IS_WAITING} and q.team_id = ${team} and q.priority in (0, 1, 2) and q.due_at = 'infinity'`;
const priorityMax = 2;
/** Deliveries that one call reads, and that one transaction changes. */
const readMax = 2_000;
const batchMax = 500;
/** Maximum number of counted deliveries per team; more are shown as "more than". */
export const heldCountMax = 10_000;

/** The held deliveries of one team, with the acceptance times of its first and last held email. */
export type HeldEmail = { teamId: string; deliveries: number; oldestAt: Date; newestAt: Date };

/** The last restore of this database. */
export type Restore = { takenAt: Date; restoredAt: Date; release: string; held: number };

/**
 * Which emails a decision is about: those accepted in this period, both ends included, and scheduled for a
 * later time than `scheduledAfter`. Null: no limit.
 */
export type HeldChoice = {
  to: "release" | "cancel";
  acceptedAfter: Date | null;
  acceptedBefore: Date | null;
  scheduledAfter: Date | null;
};

/** The team's held deliveries; null if there are none. */
export async function getHeldEmail({ hot, teamId }: Ctx): Promise<HeldEmail | null> {
  const [found] = await hot.unsafe<HeldEmail[]>(
    `with held as (
       select q.email_id::text collate "C" as id from ${heldOf("$1")} limit ${heldCountMax + 1}
     ), ends as materialized (
       select count(*)::int as deliveries, min(id)::uuid as oldest_id, max(id)::uuid as newest_id from held
     )
     select $1::uuid as "teamId", deliveries, oldest.created_at as "oldestAt", newest.created_at as "newestAt"
     from ends join emails oldest on oldest.team_id = $1 and oldest.id = oldest_id
       join emails newest on newest.team_id = $1 and newest.id = newest_id`,
    [teamId],
  );
  return found ?? null;
}

/**
 * For pages that are read often: the team's held deliveries and the last restore; null if there are none.
 * Costs one row while this database was never restored.
 */
export async function getHeldAfterRestore(ctx: Ctx): Promise<{ held: HeldEmail; restore: Restore } | null> {
  const restore = await getLastRestore(ctx);
  const held = restore && (await getHeldEmail(ctx));
  return held && { held, restore };
}

/** The last restore; null if this database was never restored by Backstamp. */
export async function getLastRestore({ db }: Pick<Deps, "db">): Promise<Restore | null> {
  const { takenAt, restoredAt, release, held } = restores;
  const [found] = await db
    .select({ takenAt, restoredAt, release, held })
    .from(restores)
    .orderBy(desc(restoredAt))
    .limit(1);
  return found ?? null;
}

/** The last delivery that was read, and the entry of the decision in the audit log. */
const Position = z.object({
  priority: z.int().min(0).max(priorityMax),
  id: z.uuid(),
  entryId: z.uuid().nullable(),
});
type Position = Omit<z.infer<typeof Position>, "entryId">;

/**
 * Releases or cancels held deliveries of the team, those of one part per call, and returns how many; `next`
 * starts the next part, and is null at the end. Released ones are due now, or at the time for which they are
 * scheduled. Those outside the chosen period stay held. Works in batches that commit one by one, so an
 * interrupted decision can be repeated. The whole decision is one entry of the audit
 * log, with its count. AppError `invalid` if `after` is not `next` of an earlier call.
 */
export async function settleHeld(
  ctx: Ctx,
  choice: HeldChoice,
  after: string | null,
): Promise<{ settled: number; next: string | null }> {
  const { entryId, ...start } = parsePosition(Position, after, {
    start: { ...startOf(0), entryId: null },
    message: "Start again: the position in the held email is not valid.",
  });
  const command: Command = { entryId };
  let position: Position | null = start;
  let settled = 0;
  for (let left = readMax; left > 0 && position !== null; ) {
    const read = await readPart(ctx, choice, position, left);
    const chosen = read.filter(({ isChosen }) => isChosen);
    for (let from = 0; from < chosen.length; from += batchMax)
      settled += await settleBatch(ctx, choice, chosen.slice(from, from + batchMax), command);
    position = positionAfter(position, read.length === left ? read.at(-1) : undefined);
    left -= read.length;
  }
  if (choice.to === "release" && settled > 0) ctx.wake();
  return { settled, next: position && encodePosition({ ...position, ...command }) };
}

/** Without `last`, the priority has no more deliveries. */
function positionAfter({ priority }: Position, last: HeldKey | undefined): Position | null {
  if (last) return { priority, id: last.id };
  return priority < priorityMax ? startOf(priority + 1) : null;
}

const startOf = (priority: number): Position => ({ priority, id: firstId });

type HeldKey = Omit<DeliveryKey, "teamId">;

/**
 * The next deliveries of a priority by their ids. The number that is read does not depend on how many of them
 * are chosen. Each email is read by its id: for a condition, PostgreSQL could read all emails of the team.
 * The due time is compared with the id: with an equal due time, PostgreSQL could read deliveries of all
 * priorities from an index of ids.
 */
function readPart(
  { hot, teamId }: Ctx,
  { acceptedAfter, acceptedBefore, scheduledAfter }: HeldChoice,
  { priority, id }: Position,
  limit: number,
): Promise<(HeldKey & { isChosen: boolean })[]> {
  return hot.unsafe<(HeldKey & { isChosen: boolean })[]>(
    `with part as materialized (
       select q.team_id, q.email_id, q.id from queue q
       where ${IS_WAITING} and q.team_id = $1 and q.priority = $2 and (q.due_at, q.id) > ('infinity'::timestamptz, $3::uuid)
       order by q.due_at, q.id limit ${limit}
     )
     select part.email_id as "emailId", part.id, d.wait_rule is not distinct from 'restored' and coalesce((
         select e.created_at >= coalesce($4::timestamptz, '-infinity') and e.created_at <= coalesce($5::timestamptz, 'infinity')
           and ($6::timestamptz is null or e.scheduled_at > $6::timestamptz)
         from emails e where e.team_id = $1 and e.id = part.email_id), false) as "isChosen"
     from part join deliveries d using (team_id, email_id, id) order by part.id`,
    [
      teamId,
      priority,
      id,
      acceptedAfter?.toISOString() ?? null,
      acceptedBefore?.toISOString() ?? null,
      scheduledAfter?.toISOString() ?? null,
    ],
  );
}

type Settled = { id: string; emailId: string; address: string; status: "queued" | "scheduled" | "canceled" };

const REASONS = {
  release: "Released after the installation was restored from a backup.",
  cancel: "Canceled after the installation was restored from a backup, because it may have been sent before.",
} as const;

async function settleBatch(
  ctx: Ctx,
  choice: HeldChoice,
  batch: readonly HeldKey[],
  command: Command,
): Promise<number> {
  const { to } = choice;
  return ctx.hot.begin(async (tx) => {
    const parents = await lockEmails(
      tx,
      batch.map(({ emailId }) => ({ teamId: ctx.teamId, emailId })),
    );
    const changed = await tx.unsafe<Settled[]>(SETTLE[to], [
      ctx.teamId,
      batch.map(({ emailId }) => emailId),
      batch.map(({ id }) => id),
    ]);
    await recordStatusEvents(tx, ctx.teamId, changed, REASONS[to]);
    await refreshEmailStatus(tx, parents);
    if (changed.length > 0)
      await recordAuditHot(tx, ctx, {
        action: to === "release" ? "email.released" : "email.held_canceled",
        detail: {
          acceptedAfter: choice.acceptedAfter?.toISOString() ?? null,
          acceptedBefore: choice.acceptedBefore?.toISOString() ?? null,
          scheduledAfter: choice.scheduledAfter?.toISOString() ?? null,
        },
        counts: { recipients: changed.length },
        command,
      });
    return changed.length;
  });
}

const HELD_OF_BATCH = `
  with held as materialized (
    select d.email_id, d.id, e.scheduled_at
    from unnest($2::uuid[], $3::uuid[]) as b(email_id, id)
    join deliveries d on d.team_id = $1 and d.email_id = b.email_id and d.id = b.id
    join emails e on e.team_id = $1 and e.id = b.email_id
    where ${IS_HELD}
    order by d.id for no key update of d
  )`;

const SETTLE = {
  release: `${HELD_OF_BATCH}
    update deliveries d
    set wait_rule = null, updated_at = now(),
      due_at = case when d.status = 'scheduled' then greatest(held.scheduled_at, now()) else now() end
    from held where d.team_id = $1 and d.email_id = held.email_id and d.id = held.id
    returning d.id, d.email_id as "emailId", d.address, d.status`,
  cancel: `${HELD_OF_BATCH}
    update deliveries d set status = 'canceled', wait_rule = null, due_at = now(), updated_at = now()
    from held where d.team_id = $1 and d.email_id = held.email_id and d.id = held.id
    returning d.id, d.email_id as "emailId", d.address, d.status`,
};

/** The ids of all teams that have held deliveries. */
export async function listTeamsWithHeld({ db }: Pick<Deps, "db">): Promise<string[]> {
  const rows = await db.execute<{ id: string }>(sql`
    select t.id from teams t
    where exists (select from ${sql.raw(heldOf("t.id"))})
    order by t.id`);
  return rows.map(({ id }) => id);
}
