import { and, eq, gt, sql } from "drizzle-orm";
import { accountEvents } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/visitor";
import { isKnownAddress } from "../sessions";
import { recordAccountEvent } from "./events";
import { holdUser } from "./factors";
import { isRecoveryCode, takeRecoveryCode } from "./recovery-codes";
import { takeTotpCode } from "./totp";

/**
 * Tries at a second proof. None of these numbers locks an account: whoever signed in from an address before is not
 * counted among the strangers there, and recovery codes and passkeys, which nobody guesses, are never refused for a count
 * of the account's.
 */
export const CODE_TRIES = {
  /** For one first proof; then it has to be given again. */
  step: 5,
  /** Wrong codes an hour for one account, from one address where its owner has signed in before. */
  accountAtKnownAddress: 20,
  /** Wrong codes an hour for one account, from all other addresses together. One guess in 300 000 is right. */
  accountFromStrangers: 20,
  /** Tries of any kind a minute from one address. */
  addressPerMinute: 30,
} as const;

export type CodeKind = "totp" | "recovery_code";

/**
 * Takes a code of the authenticator app or a recovery code, with or without the spaces and dashes it was shown with, and
 * tells which it was. One that is wrong, or was taken before, is refused and counted. `deps.db` is a transaction.
 */
export async function tryCode(
  deps: Deps,
  input: { user: { id: string; email: string }; code: string; visitor: Visitor },
): Promise<CodeKind | "refused" | "too_many_tries"> {
  const { user, code, visitor } = input;
  await holdUser(deps.db, user.id);
  if (isRecoveryCode(code)) {
    if (await takeRecoveryCode(deps.db, { userId: user.id, code })) {
      await recordAccountEvent(deps.db, { userId: user.id, kind: "recovery_code_used", visitor });
      return "recovery_code";
    }
  } else {
    if (await isGuessing(deps, user, visitor)) return "too_many_tries";
    if (await takeTotpCode(deps, { userId: user.id, code })) return "totp";
  }
  await recordAccountEvent(deps.db, { userId: user.id, kind: "code_refused", visitor });
  return "refused";
}

async function isGuessing(
  deps: Deps,
  user: { id: string; email: string },
  { address }: Visitor,
): Promise<boolean> {
  const [wrong] = await deps.db
    .select({
      here: sql<number>`count(*) filter (where ${accountEvents.address} = ${address})::int`,
      all: sql<number>`count(*)::int`,
    })
    .from(accountEvents)
    .where(
      and(
        eq(accountEvents.userId, user.id),
        eq(accountEvents.kind, "code_refused"),
        gt(accountEvents.createdAt, sql`now() - interval '1 hour'`),
      ),
    );
  if (!wrong || wrong.all < CODE_TRIES.accountFromStrangers) return false;
  const isKnown = await isKnownAddress(deps, { email: user.email, address });
  return !isKnown || wrong.here >= CODE_TRIES.accountAtKnownAddress;
}
