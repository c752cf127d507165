import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { users } from "#db/schema/teams";
import type { Visitor } from "#server/visitor";
import { voidSignInTokens } from "../sign-in-tokens";
import { recordAccountEvent } from "./events";
import { dropFactors, endSessionsBut } from "./factors";

/**
 * Writes down that a person's address is theirs: they came by a link that nobody but the mailbox was told, or by a provider
 * that verified it. The first time, whoever set the person up before may have been somebody else who was shown the link of
 * an invitation. So their password, second factors and sessions, and links that were mailed, are worth nothing from then on.
 * `tx` is the transaction that lets them in.
 */
export async function proveAddress(
  tx: Db,
  { userId, visitor }: { userId: string; visitor: Visitor },
): Promise<void> {
  const proved = await tx
    .update(users)
    .set({ addressProvedAt: sql`now()`, passwordHash: null })
    .where(and(eq(users.id, userId), isNull(users.addressProvedAt)))
    .returning({ id: users.id });
  if (proved.length === 0) return;
  await dropFactors(tx, userId);
  await endSessionsBut(tx, userId, null);
  await voidSignInTokens(tx, userId);
  await recordAccountEvent(tx, { userId, kind: "address_proved", visitor });
}
