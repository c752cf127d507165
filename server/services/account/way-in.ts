import { eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { accounts } from "#db/schema/account";
import { AppError } from "#server/errors";
import { readFactors } from "./factors";
import { hasPassword } from "./prove";

/**
 * To be called in the transaction that took a way in away, while the person is held. AppError `conflict` where none is left
 * that needs no mail.
 */
export async function requireWayIn(tx: Db, userId: string): Promise<void> {
  const { passkeys } = await readFactors(tx, userId);
  if (passkeys > 0 || (await hasPassword({ db: tx }, userId))) return;
  if ((await tx.$count(accounts, eq(accounts.userId, userId))) > 0) return;
  throw new AppError(
    "conflict",
    "This is the only way in that you have. Set a password or add a passkey first.",
  );
}
