import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { sessions } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type { OpenSession } from "#server/shared/wire/people/account";
import { formatDevice, recordAccountEvent } from "../people/events";
import { endSessionsExcept } from "../people/lock";
import type { Owner } from "../people/users";

/** The user's active sessions, most recently used first. */
export async function listSessions(deps: Deps, userId: string): Promise<OpenSession[]> {
  const rows = await deps.db
    .select({
      id: sessions.id,
      userAgent: sessions.userAgent,
      address: sessions.address,
      createdAt: sessions.createdAt,
      lastSeenAt: sessions.lastSeenAt,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, sql`now()`)))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.id));
  return rows.map(({ userAgent, ...row }) => ({ ...row, agent: formatDevice(userAgent) }));
}

/**
 * Ends one of the owner's sessions; its next request is rejected. AppError `not_found` if the session has
 * ended or belongs to another user.
 */
export async function endSessionById(deps: Deps, owner: Owner, id: string): Promise<void> {
  if (!isId(id)) throw notFound("Session");
  await deps.db.transaction(async (tx) => {
    const [ended] = await tx
      .update(sessions)
      .set({ revokedAt: sql`now()` })
      .where(and(eq(sessions.id, id), eq(sessions.userId, owner.user.id), isNull(sessions.revokedAt)))
      .returning({ userAgent: sessions.userAgent });
    if (!ended) throw notFound("Session");
    await recordAccountEvent(tx, {
      userId: owner.user.id,
      kind: "session_ended",
      subject: formatDevice(ended.userAgent),
      visitor: owner.visitor,
    });
  });
}

/** Ends all of the owner's sessions except the current one. Returns the number of sessions ended. */
export async function endOtherSessions(deps: Deps, owner: Owner): Promise<number> {
  return deps.db.transaction(async (tx) => {
    const ended = await endSessionsExcept(tx, owner.user.id, owner.sessionId);
    if (ended > 0)
      await recordAccountEvent(tx, {
        userId: owner.user.id,
        kind: "other_sessions_ended",
        visitor: owner.visitor,
      });
    return ended;
  });
}
