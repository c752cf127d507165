import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import type { teamDeletions } from "#db/schema/audit";
import type { Ctx, Deps } from "#server/deps";
import { hourMs } from "#server/shared/durations";
import { findSystemEmailFault, queueSystemEmail } from "../system-mail/queue";

/** The email is of no use when it is later than this. */
const expiryHours = 24;

type Event = "requested" | "canceled";
type Deletion = Pick<typeof teamDeletions.$inferSelect, "id" | "teamName" | "deletesAt">;

/**
 * Whether the emails can be sent, read before the transaction that queues them. A fault is logged: the
 * deletion does not wait for it.
 */
export async function canNotify(ctx: Ctx): Promise<boolean> {
  const fault = await findSystemEmailFault(ctx);
  if (fault !== null) ctx.log.warn("team.deletion_not_announced", { teamId: ctx.teamId, reason: fault });
  return fault === null;
}

/**
 * Queues an email for each owner and admin of the team, also for those without alert emails, in the
 * transaction of the change. Call `deps.wake()` after the commit.
 */
export async function notifyOfDeletion(
  tx: Db,
  ctx: Ctx,
  { event, deletion, by }: { event: Event; deletion: Deletion; by: string | null },
): Promise<void> {
  const readers = await tx.execute<{ email: string }>(sql`
    select u.email from memberships m join users u on u.id = m.user_id
    where m.team_id = ${ctx.teamId} and m.role in ('owner', 'admin') order by u.id`);
  for (const { email } of readers)
    await queueSystemEmail(tx, ctx, {
      kind: "team_deletion",
      to: email,
      expiresAt: new Date(ctx.clock().getTime() + expiryHours * hourMs),
      details: {
        deletionId: deletion.id,
        event,
        team: deletion.teamName,
        by,
        deletesAt: deletion.deletesAt.toISOString(),
        path: `/console/settings/team?team=${ctx.teamId}`,
      },
    });
}

/** Whether an email about the deletion is still true, and the user with this address may still read it. */
export async function isDeletionReader(
  { hot }: Pick<Deps, "hot">,
  { address, deletionId, event }: { address: string; deletionId: string; event: Event },
): Promise<boolean> {
  const found = await hot`
    select from team_deletions x
      join memberships m on m.team_id = x.team_id and m.role in ('owner', 'admin')
      join users u on u.id = m.user_id
    where x.id = ${deletionId} and u.email = ${address.toLowerCase()} and (x.canceled_at is not null) = ${event === "canceled"}`;
  return found.length > 0;
}
