import { and, asc, eq, gt, sql } from "drizzle-orm";
import { invitations, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import type { User } from "../people/users";
import { join } from "./accept";
import { isPending } from "./read";

/**
 * Creates a user without a password for a verified email address, and adds them to all teams with a pending invitation for
 * it. Null, without any change, if none is pending. `deps.db` must be a transaction.
 */
export async function acceptForVerifiedAddress(
  deps: Deps,
  input: { email: string; name: string | null; requestId: string },
): Promise<User | null> {
  const { email, name, requestId } = input;
  const open = await deps.db
    .select({ teamId: invitations.teamId, id: invitations.id, role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.email, email), isPending, gt(invitations.expiresAt, sql`now()`)))
    .orderBy(asc(invitations.id))
    .for("update");
  if (open.length === 0) return null;
  const user = { id: newId(), email, name };
  await deps.db.insert(users).values({ ...user, passwordHash: null, addressProvedAt: sql`now()` });
  for (const invitation of open) await join(deps.db, deps, { invitation, user, requestId });
  return user;
}
