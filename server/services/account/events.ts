import { and, desc, eq, gt, sql } from "drizzle-orm";
import { accountEventDays } from "#db/account-records";
import type { Db } from "#db/client";
import { accountEvents } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { deviceOf } from "#server/device";
import { newId } from "#server/ids";
import type { Visitor } from "#server/visitor";

/** Everything that a person is told of their account, by the name it is stored under and the words they read. */
export const ACCOUNT_EVENTS = {
  signed_in: "Signed in",
  code_refused: "A wrong code was given",
  session_ended: "Ended a session",
  other_sessions_ended: "Ended all other sessions",
  password_changed: "Changed the password",
  password_reset: "Chose another password by a link",
  password_set_by_operator: "The operator set another password",
  address_proved: "The address was shown to be yours; what was set up before is gone",
  authenticator_added: "Added an authenticator app",
  authenticator_removed: "Removed the authenticator app",
  recovery_codes_made: "Made new recovery codes",
  recovery_code_used: "Used a recovery code",
  passkey_added: "Added a passkey",
  passkey_removed: "Removed a passkey",
  account_linked: "Linked an account for signing in",
  account_unlinked: "Unlinked an account for signing in",
  second_factor_reset: "The operator took off the second factor",
} as const;
export type AccountEventKind = keyof typeof ACCOUNT_EVENTS;

const nameCharsMax = 200;

/** Writes down what happened to a person's account. `tx` is the transaction of the change itself. */
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

/** What happened to a person's account of late, the newest first. */
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

/** A browser in words, also where it is none that we know. */
export const sayDevice = (userAgent: string | null): string => deviceOf(userAgent) ?? "Unknown browser";
