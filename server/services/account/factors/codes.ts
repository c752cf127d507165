import { and, eq, gt, sql } from "drizzle-orm";
import { accountEvents } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/platform/http/visitor";
import { recordAccountEvent } from "../../people/events";
import { lockUser } from "../../people/lock";
import { isKnownAddress } from "../../people/sessions";
import { consumeRecoveryCode, isRecoveryCode } from "./recovery-codes";
import { consumeTotpCode } from "./totp";

/**
 * Attempt limits for the second sign-in step. None of them locks an account: an IP address from which the
 * user has signed in before has its own limit, and recovery codes and passkeys cannot be guessed, so no limit
 * of the account applies to them.
 */
export const CODE_ATTEMPTS_MAX = {
  /** For one 2FA challenge; then the user has to start the sign-in again. */
  step: 5,
  /** Wrong codes per hour for one account, from one IP address where the user has signed in before. */
  accountAtKnownAddress: 20,
  /**
   * Wrong codes per hour for one account, from all other IP addresses together. One guess in 300,000 is
   * right.
   */
  accountFromStrangers: 20,
  /** Attempts of any kind per minute from one IP address. */
  addressPerMinute: 30,
} as const;

export type CodeKind = "totp" | "recovery_code";

/**
 * Verifies a TOTP code or a recovery code and returns its kind. Spaces and dashes are ignored. A wrong or
 * already used code is rejected and counted. `deps.db` must be a transaction.
 */
export async function verifyCode(
  deps: Deps,
  input: { user: { id: string; email: string }; code: string; visitor: Visitor },
): Promise<CodeKind | "rejected" | "too_many_attempts"> {
  const { user, code, visitor } = input;
  await lockUser(deps.db, user.id);
  if (isRecoveryCode(code)) {
    if (await consumeRecoveryCode(deps.db, { userId: user.id, code })) {
      await recordAccountEvent(deps.db, { userId: user.id, kind: "recovery_code_used", visitor });
      return "recovery_code";
    }
  } else {
    if (await hasTooManyWrongCodes(deps, user, visitor)) return "too_many_attempts";
    if (await consumeTotpCode(deps, { userId: user.id, code })) return "totp";
  }
  await recordAccountEvent(deps.db, { userId: user.id, kind: "code_refused", visitor });
  return "rejected";
}

async function hasTooManyWrongCodes(
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
  if (!wrong || wrong.all < CODE_ATTEMPTS_MAX.accountFromStrangers) return false;
  const isKnown = await isKnownAddress(deps, { email: user.email, address });
  return !isKnown || wrong.here >= CODE_ATTEMPTS_MAX.accountAtKnownAddress;
}
