import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { sessions } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";

import { recordAccountEvent, sayDevice } from "./events";
import { endSessionsBut } from "./factors";
import type { Owner } from "./prove";

/** A session that is open, with its browser in words. */
export type OpenSession = {
  id: string;
  agent: string;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

/** A person's open sessions, the one seen last first. */
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
  return rows.map(({ userAgent, ...row }) => ({ ...row, agent: sayDevice(userAgent) }));
}

/** Ends one session of the owner's; its next call is refused. AppError `not_found` for one that is over or another's. */
export async function endOneSession(deps: Deps, owner: Owner, id: string): Promise<void> {
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
      subject: sayDevice(ended.userAgent),
      visitor: owner.visitor,
    });
  });
}

/** Ends every session of the owner's but the one that asks. Tells how many there were. */
export async function endOtherSessions(deps: Deps, owner: Owner): Promise<number> {
  return deps.db.transaction(async (tx) => {
    const ended = await endSessionsBut(tx, owner.user.id, owner.sessionId);
    if (ended > 0)
      await recordAccountEvent(tx, {
        userId: owner.user.id,
        kind: "other_sessions_ended",
        visitor: owner.visitor,
      });
    return ended;
  });
}
