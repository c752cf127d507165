import { and, asc, eq, gt, sql } from "drizzle-orm";
import { invitations } from "#db/schema/invitations";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";
import type { User } from "../users";
import { join } from "./accept";
import { isWaiting } from "./read";

/**
 * Makes the person of an address that somebody proved to be theirs, where invitations for it are open, and lets them into
 * those teams. They have no password. Null, and nothing written, where none is open. `deps.db` is a transaction.
 */
export async function acceptAsVerified(
  deps: Deps,
  input: { email: string; name: string | null; requestId: string },
): Promise<User | null> {
  const { email, name, requestId } = input;
  const open = await deps.db
    .select({ teamId: invitations.teamId, id: invitations.id, role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.email, email), isWaiting, gt(invitations.expiresAt, sql`now()`)))
    .orderBy(asc(invitations.id))
    .for("update");
  if (open.length === 0) return null;
  const user = { id: newId(), email, name };
  await deps.db.insert(users).values({ ...user, passwordHash: null, addressProvedAt: sql`now()` });
  for (const invitation of open) await join(deps.db, deps, { invitation, user, requestId });
  return user;
}
