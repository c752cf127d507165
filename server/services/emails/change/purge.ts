import { gt, sql } from "drizzle-orm";
import { z } from "zod";
import type { DeliveryKey } from "#db/schema/deliveries";
import { teams } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { firstId, newId } from "#server/platform/ids";
import { type Command, recordAuditHot } from "../../audit/record";
import { encodePosition, parsePosition } from "../../parts";
import { parseReason } from "../../pauses/reason";
import { type NamedScope, nameScope, type OperatorCtx, type QueueScope } from "../../pauses/scope";
import { IS_WAITING } from "../../pauses/waiting";
import { recordStatusEvents, refreshEmailStatus } from "../status";

/** Deliveries that one call reads. */
const batchMax = 1_000;
/** `countWaiting` stops here. */
export const waitingCountMax = 10_000;

/** Where the next batch starts, and the entry of this purge in the audit log of the team. */
const Place = z.object({
  teamId: z.uuid(),
  /** The last delivery that was read, in the order of claims; a priority of -1 before the first one. */
  priority: z.int(),
  dueAt: z.string(),
  id: z.uuid(),
  /** Deliveries accepted later are not canceled. */
  before: z.uuid(),
  entryId: z.uuid().nullable(),
});
type Place = z.infer<typeof Place>;

export type PurgeInput = QueueScope & {
  reason: string;
  /** The name of the scope, typed by the operator: `installation`, the team's name, or the domain. */
  confirm: string;
  /** `next` of the call before; null at the start. */
  after: string | null;
};

/**
 * Cancels the queued deliveries of a scope, one batch per call, and returns how many; `next` starts the next
 * batch, and is null at the end. Each delivery gets an `email.canceled` event with the reason. Deliveries
 * that a worker has claimed, such as those in an SMTP dialogue, scheduled ones before their time, and email
 * accepted after the first call are not canceled. Interrupted, a new purge cancels the rest. 422 if `confirm`
 * is not the scope's name.
 */
export async function purgeQueue(
  ctx: OperatorCtx,
  input: PurgeInput,
): Promise<{ canceled: number; next: string | null }> {
  const scope = await nameScope(ctx, input);
  const reason = parseReason(input.reason);
  if (input.confirm.trim() !== scope.name)
    throw new AppError("invalid", `To confirm, enter the name of the queue: ${scope.name}`);
  const message = "Start the purge again: its position is not valid.";
  const place = parsePosition(Place, input.after, { start: null, message }) ?? (await firstPlace(ctx, scope));
  if (place === null) return { canceled: 0, next: null };
  if (scope.teamId !== null && place.teamId !== scope.teamId) throw new AppError("invalid", message);
  const batch = await readBatch(ctx, place);
  const command: Command = { entryId: place.entryId };
  const canceled = await cancelBatch(ctx, { scope, reason, place, command, keys: batch.keys });
  const next = batch.last
    ? { ...place, ...batch.last, ...command }
    : scope.teamId === null
      ? await placeAfter(ctx, place)
      : null;
  return { canceled, next: next && encodePosition(next) };
}

/** How many deliveries a purge would cancel now, up to `waitingCountMax`. */
export async function countWaiting(
  { db }: Pick<Deps, "db">,
  { teamId, domain }: QueueScope,
): Promise<number> {
  const [row] = await db.execute<{ n: number }>(sql`
    select count(*)::int as n from (
      select from queue q
      where ${sql.raw(IS_WAITING)} and (q.status = 'queued' or q.due_at <= now())
        and (${teamId}::uuid is null or q.team_id = ${teamId}::uuid)
        and (${domain}::text is null or exists (
          select from emails e
          where e.team_id = q.team_id and e.id = q.email_id and e.sender_domain = ${domain}::text))
      limit ${waitingCountMax}) as waiting`);
  return row?.n ?? 0;
}

const startOf = (teamId: string, before: string): Place => ({
  teamId,
  priority: -1,
  dueAt: "-infinity",
  id: firstId,
  before,
  entryId: null,
});

async function firstPlace(ctx: OperatorCtx, { teamId }: NamedScope): Promise<Place | null> {
  const before = newId();
  if (teamId !== null) return startOf(teamId, before);
  return placeAfter(ctx, { teamId: firstId, before });
}

/** The start of the next team. */
async function placeAfter(
  { db }: OperatorCtx,
  { teamId, before }: Pick<Place, "teamId" | "before">,
): Promise<Place | null> {
  const [next] = await db
    .select({ id: teams.id })
    .from(teams)
    .where(gt(teams.id, teamId))
    .orderBy(teams.id)
    .limit(1);
  return next ? startOf(next.id, before) : null;
}

type Key = Omit<DeliveryKey, "teamId">;
type Row = Key & { priority: number; dueAt: string; isWaiting: boolean };

/**
 * The next deliveries of the team in the order of claims; with the first ones, its suspects, which have no
 * such order.
 */
async function readBatch(
  { hot }: OperatorCtx,
  { teamId, priority, dueAt, id, before }: Place,
): Promise<{ keys: Key[]; last: Pick<Place, "priority" | "dueAt" | "id"> | null }> {
  const rows = await hot<Row[]>`
    select q.email_id as "emailId", q.id, q.priority, q.due_at::text as "dueAt",
      (q.status = 'queued' or q.due_at <= now()) and q.id < ${before} as "isWaiting"
    from queue q
    where ${hot.unsafe(IS_WAITING)} and q.team_id = ${teamId}
      and (q.priority, q.due_at, q.id) > (${priority}::smallint, ${dueAt}::text::timestamptz, ${id}::uuid)
    order by q.priority, q.due_at, q.id limit ${batchMax}`;
  const suspects =
    priority >= 0
      ? []
      : await hot<Key[]>`
          select email_id as "emailId", id from queue
          where lapses >= 3 and lease_token is null and team_id = ${teamId} and id < ${before} limit ${batchMax}`;
  const last = rows.length === batchMax ? rows.at(-1) : undefined;
  return {
    keys: [...suspects, ...rows.filter((row) => row.isWaiting)],
    last: last ? { priority: last.priority, dueAt: last.dueAt, id: last.id } : null,
  };
}

async function cancelBatch(
  ctx: OperatorCtx,
  {
    scope,
    reason,
    place,
    command,
    keys,
  }: { scope: NamedScope; reason: string; place: Place; command: Command; keys: Key[] },
): Promise<number> {
  if (keys.length === 0) return 0;
  const { teamId } = place;
  const { domain } = scope;
  return ctx.hot.begin(async (tx) => {
    const parents = await tx<{ teamId: string; id: string }[]>`
      select e.team_id as "teamId", e.id from emails e
      where e.team_id = ${teamId} and e.id = any(${keys.map(({ emailId }) => emailId)}::uuid[])
        and (${domain === null} or e.sender_domain = ${domain ?? ""})
      order by e.team_id, e.id for no key update of e`;
    const canceled = await tx<{ id: string; emailId: string; address: string; status: string }[]>`
      with mine as materialized (
        select d.email_id, d.id
        from unnest(${keys.map(({ emailId }) => emailId)}::uuid[], ${keys.map(({ id }) => id)}::uuid[]) as k(email_id, id)
          join deliveries d on d.team_id = ${teamId} and d.email_id = k.email_id and d.id = k.id
        where d.email_id = any(${parents.map(({ id }) => id)}::uuid[])
          and (d.status = 'queued' or d.status = 'scheduled' and d.due_at <= now())
        order by d.id for no key update of d
      )
      update deliveries d set status = 'canceled', wait_rule = null, due_at = now(), updated_at = now()
      from mine where d.team_id = ${teamId} and d.email_id = mine.email_id and d.id = mine.id
      returning d.id, d.email_id as "emailId", d.address, d.status`;
    if (canceled.length === 0) return 0;
    const why = `The operator canceled it in the queue. Reason: ${reason}`;
    await recordStatusEvents(tx, teamId, canceled, why);
    await refreshEmailStatus(tx, parents);
    await recordAuditHot(
      tx,
      { ...ctx, teamId },
      {
        action: "queue.purged",
        detail: { scope: scope.name, reason },
        counts: { recipients: canceled.length },
        command,
      },
    );
    return canceled.length;
  });
}
