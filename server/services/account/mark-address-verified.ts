import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { users } from "#db/schema/teams";
import type { Visitor } from "#server/platform/http/visitor";
import { recordAccountEvent } from "../people/events";
import { endSessionsExcept } from "../people/lock";
import { revokeSignInTokens } from "../people/sign-in-tokens";
import { deleteFactors } from "./factors/factors";

/**
 * Marks the user's email address as verified: the user opened a link that was sent only to the mailbox, or
 * signed in through a provider that verified the address. Before the first verification, a third party who
 * saw the invitation link may have created the account. The first call therefore deletes the password and 2FA
 * factors, ends all sessions and revokes all sent links. `tx` is the transaction of the sign-in.
 */
export async function markAddressVerified(
  tx: Db,
  { userId, visitor }: { userId: string; visitor: Visitor },
): Promise<void> {
  const verified = await tx
    .update(users)
    .set({ addressVerifiedAt: sql`now()`, passwordHash: null })
    .where(and(eq(users.id, userId), isNull(users.addressVerifiedAt)))
    .returning({ id: users.id });
  if (verified.length === 0) return;
  await deleteFactors(tx, userId);
  await endSessionsExcept(tx, userId, null);
  await revokeSignInTokens(tx, userId);
  await recordAccountEvent(tx, { userId, kind: "address_verified", visitor });
}
