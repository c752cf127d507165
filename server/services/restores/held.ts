import { desc, sql } from "drizzle-orm";
import { restores } from "#db/schema/audit";
import type { DeliveryKey } from "#db/schema/deliveries";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { recordAuditHot } from "../audit/record";
import { type HotTransaction, lockEmails, refreshEmailStatus } from "../emails/status";

/*
 * After a restore, every delivery that was queued, scheduled or sending at the time of the backup is held: it may have been
 * sent since. It has the wait rule `restored` and the due time `infinity`, which no worker claims, until an owner, an admin
 * or the operator decides.
 */

/** The condition of a held delivery. The index of due deliveries contains it. */
const IS_HELD =
  "d.status in ('queued', 'scheduled') and d.lapses < 3 and d.due_at = 'infinity' and d.wait_rule = 'restored'";
const batchMax = 500;
const PRIORITIES = [0, 1, 2] as const;
/** Maximum number of counted deliveries per team; more are shown as "more than". */
export const heldCountMax = 100_000;

/** The held deliveries of one team, with the acceptance times of its first and last held email. */
export type HeldEmail = { teamId: string; deliveries: number; oldestAt: Date; newestAt: Date };

/** The last restore of this database. */
export type Restore = { takenAt: Date; restoredAt: Date; release: string; held: number };

/**
 * Which emails a decision is about: those accepted in this period, both ends included, and scheduled for a later time than
 * `scheduledAfter`. Null: no limit.
 */
export type HeldChoice = {
  to: "release" | "cancel";
  acceptedAfter: Date | null;
  acceptedBefore: Date | null;
  scheduledAfter: Date | null;
};

/** The team's held deliveries; null if there are none. */
export async function readHeld({ hot, teamId }: Ctx): Promise<HeldEmail | null> {
  const [found] = await hot.unsafe<HeldEmail[]>(
    `with held as (
       select d.email_id from deliveries d where d.team_id = $1 and ${IS_HELD} limit ${heldCountMax + 1}
     )
     select $1::uuid as "teamId", count(*)::int as deliveries, min(e.created_at) as "oldestAt", max(e.created_at) as "newestAt"
     from held join emails e on e.team_id = $1 and e.id = held.email_id having count(*) > 0`,
    [teamId],
  );
  return found ?? null;
}

/** The last restore; null if this database was never restored by Backstamp. */
export async function readLastRestore({ db }: Pick<Deps, "db">): Promise<Restore | null> {
  const { takenAt, restoredAt, release, held } = restores;
  const [found] = await db
    .select({ takenAt, restoredAt, release, held })
    .from(restores)
    .orderBy(desc(restoredAt))
    .limit(1);
  return found ?? null;
}

/**
 * Releases or cancels the team's held deliveries. Released ones are due now, or at the time for which they are scheduled.
 * Those outside the chosen period stay held. Works in batches that commit one by one, so an interrupted call can be
 * repeated. Returns the number of deliveries.
 */
export async function settleHeld(ctx: Ctx, choice: HeldChoice): Promise<number> {
  let settled = 0;
  for (const priority of PRIORITIES)
    for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
      const held = await findHeld(ctx, choice, priority, after);
      const last = held.at(-1);
      if (last === undefined) break;
      settled += await settleBatch(ctx, choice, held, settled === 0);
      after = last.id;
    }
  if (choice.to === "release" && settled > 0) ctx.wake();
  return settled;
}

type HeldKey = Omit<DeliveryKey, "teamId">;

async function findHeld(
  { hot, teamId }: Ctx,
  { acceptedAfter, acceptedBefore, scheduledAfter }: HeldChoice,
  priority: number,
  after: string,
): Promise<HeldKey[]> {
  return hot.unsafe<HeldKey[]>(
    `select d.email_id as "emailId", d.id from deliveries d
     where d.team_id = $1 and d.priority = $2 and ${IS_HELD} and d.id > $3
       and exists (select from emails e where e.team_id = d.team_id and e.id = d.email_id
         and e.created_at >= coalesce($4::timestamptz, '-infinity') and e.created_at <= coalesce($5::timestamptz, 'infinity')
         and ($6::timestamptz is null or e.scheduled_at > $6::timestamptz))
     order by d.due_at, d.id limit ${batchMax}`,
    [
      teamId,
      priority,
      after,
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
  isFirst: boolean,
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
    await recordEvents(tx, ctx.teamId, changed, REASONS[to]);
    await refreshEmailStatus(tx, parents);
    if (isFirst && changed.length > 0)
      await recordAuditHot(tx, ctx, {
        action: to === "release" ? "email.released" : "email.held_canceled",
        detail: {
          acceptedAfter: choice.acceptedAfter?.toISOString() ?? null,
          acceptedBefore: choice.acceptedBefore?.toISOString() ?? null,
          scheduledAfter: choice.scheduledAfter?.toISOString() ?? null,
        },
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

async function recordEvents(
  tx: HotTransaction,
  teamId: string,
  settled: readonly Settled[],
  reason: string,
): Promise<void> {
  await tx`
    insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
    select event_id, ${teamId}, email_id, delivery_id, 'email.' || status, address, jsonb_build_object('reason', ${reason}::text)
    from unnest(${settled.map(newId)}::uuid[], ${settled.map(({ emailId }) => emailId)}::uuid[],
                ${settled.map(({ id }) => id)}::uuid[], ${settled.map(({ address }) => address)}::text[],
                ${settled.map(({ status }) => status)}::text[])
      as s(event_id, email_id, delivery_id, address, status)`;
}

/** The ids of all teams that have held deliveries. */
export async function listTeamsWithHeld({ db }: Pick<Deps, "db">): Promise<string[]> {
  const rows = await db.execute<{ id: string }>(sql`
    select t.id from teams t
    where exists (select from deliveries d where d.team_id = t.id and ${sql.raw(IS_HELD)})
    order by t.id`);
  return rows.map(({ id }) => id);
}
