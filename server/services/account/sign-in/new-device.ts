import { and, eq, gt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { sessions, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { deviceOf } from "#server/platform/http/device";
import { isKnownDevice, type Visitor } from "#server/platform/http/visitor";
import { hourMs } from "#server/shared/durations";
import type { User } from "../../people/users";
import { countRecent, findSystemEmailFault, queueSystemEmail } from "../../system-mail/queue";

/**
 * Emails about new devices for one user per hour. Further sign-ins appear only in the security events of the
 * account.
 */
export const NEW_DEVICE_EMAILS_PER_HOUR = 5;

/** The email is of no use when it is later than this. */
const expiryHours = 24;

/** A first sign-in this soon after the user was created belongs to the set-up of the account. */
const setUpHours = 24;

/**
 * Queues an email to a user who signs in with a browser that has no valid device cookie of theirs. Not for
 * the first sign-in of a new user, not above the limit per hour, and not if system email cannot be sent: the
 * sign-in never depends on it. `deps.db` must be a transaction that has locked the user.
 */
export async function announceNewDevice(
  deps: Deps,
  { user, visitor, by }: { user: User; visitor: Visitor; by: string },
): Promise<void> {
  if (isKnownDevice(visitor, user.email)) return;
  if ((await isFirstSignIn(deps.db, user.id)) || (await findSystemEmailFault(deps)) !== null) return;
  const recent = await countRecent(deps.db, { kind: "new_device", to: user.email, minutes: 60 });
  if (recent >= NEW_DEVICE_EMAILS_PER_HOUR) return;
  const now = deps.clock();
  try {
    await queueSystemEmail(deps.db, deps, {
      kind: "new_device",
      to: user.email,
      expiresAt: new Date(now.getTime() + expiryHours * hourMs),
      details: {
        at: now.toISOString(),
        device: deviceOf(visitor.userAgent),
        address: visitor.address,
        method: by,
        path: "/console/settings/security",
      },
    });
  } catch (error) {
    // Nothing can be encrypted yet. No statement has failed, so the transaction is intact.
    if (!(error instanceof AppError)) throw error;
    deps.log.warn("sign_in.not_announced", { userId: user.id, reason: error.message });
  }
}

async function isFirstSignIn(tx: Db, userId: string): Promise<boolean> {
  const [found] = await tx
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.id, userId),
        gt(users.createdAt, sql`now() - ${setUpHours} * interval '1 hour'`),
        sql`not exists (select from ${sessions} s where s.user_id = ${userId})`,
      ),
    );
  return found !== undefined;
}
