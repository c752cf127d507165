import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { accountEvents } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { deviceOf } from "#server/platform/http/device";
import type { Visitor } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import { accountEventDays } from "./records";

/** The stored kind of each account event, with the text that the user sees. */
export const ACCOUNT_EVENTS = {
  signed_in: "Signed in",
  code_refused: "Wrong code entered",
  session_ended: "Ended a session",
  other_sessions_ended: "Ended all other sessions",
  password_changed: "Changed the password",
  password_reset: "Reset the password with a link",
  password_set_by_operator: "The operator set a new password",
  address_changed: "Changed the email address",
  address_verified: "Email address verified; previous password, factors and sessions removed",
  authenticator_added: "Added an authenticator app",
  authenticator_removed: "Removed the authenticator app",
  recovery_codes_made: "Created new recovery codes",
  recovery_code_used: "Used a recovery code",
  passkey_added: "Added a passkey",
  passkey_removed: "Removed a passkey",
  account_linked: "Linked a sign-in account",
  account_unlinked: "Unlinked a sign-in account",
  operator_granted: "Became an operator of the installation",
  operator_revoked: "Is no longer an operator of the installation",
  second_factor_reset: "The operator turned off two-factor authentication",
} as const;
export type AccountEventKind = keyof typeof ACCOUNT_EVENTS;

const nameCharsMax = 200;

/** Records an event of the user's account. `tx` is the transaction of the change itself. */
export async function recordAccountEvent(
  tx: Db,
  event: { userId: string; kind: AccountEventKind; subject?: string; visitor: Visitor | null },
): Promise<void> {
  await tx.insert(accountEvents).values({
    id: newId(),
    userId: event.userId,
    kind: event.kind,
    subject: event.subject?.slice(0, nameCharsMax) ?? null,
    address: event.visitor?.address ?? null,
    userAgent: event.visitor?.userAgent ?? null,
  });
}

export type AccountEvent = typeof accountEvents.$inferSelect;

/** The user's account events of the last 90 days, newest first. */
export async function listAccountEvents(
  deps: Deps,
  input: { userId: string; limit: number },
): Promise<AccountEvent[]> {
  return deps.db
    .select()
    .from(accountEvents)
    .where(
      and(
        eq(accountEvents.userId, input.userId),
        gt(accountEvents.createdAt, sql`now() - ${accountEventDays} * interval '1 day'`),
      ),
    )
    .orderBy(desc(accountEvents.id))
    .limit(input.limit);
}

/**
 * A browser and its system in words, such as "Firefox on Linux". "Unknown browser" if it is not recognized.
 */
export const formatDevice = (userAgent: string | null): string => deviceOf(userAgent) ?? "Unknown browser";
