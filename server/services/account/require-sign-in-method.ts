import { eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { accounts } from "#db/schema/account";
import { AppError } from "#server/platform/errors";
import { readFactors } from "./factors/factors";
import { hasPassword } from "./reauthenticate";

/**
 * Call it in the transaction that removed a sign-in method, while the user's row is locked. AppError `conflict` if no method
 * is left that does not depend on email.
 */
export async function requireSignInMethod(tx: Db, userId: string): Promise<void> {
  const { passkeys } = await readFactors(tx, userId);
  if (passkeys > 0 || (await hasPassword({ db: tx }, userId))) return;
  if ((await tx.$count(accounts, eq(accounts.userId, userId))) > 0) return;
  throw new AppError("conflict", "This is your only sign-in method. Set a password or add a passkey first.");
}
