import { and, count, eq, gt, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { type SystemMailKind, systemMails } from "#db/schema/account";
import { relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { newId } from "#server/platform/ids";
import { CAPTURED } from "#server/shared/email-words";
import { isRelayInUse } from "../relays/read";
import { type Details, sealDetails } from "./details";

/** How long Backstamp tries to send a link that a user is waiting for, in minutes. */
const linkDeliveryMinutes = 60;

/**
 * Maximum number of links for one address while they are valid. A user who reaches the limit still has a
 * valid link in the mailbox, so requests of others can neither flood the mailbox nor lock its owner out.
 */
export const LINKS_MAX = { sign_in_link: 3, password_reset: 3, address_confirmation: 3 } as const;

/** Validity of an emailed link in minutes, from the moment it is sent. */
export const LINK_MINUTES = { sign_in_link: 15, password_reset: 30, address_confirmation: 60 } as const;

/** A system email to queue. */
export type SystemEmail =
  /** The worker looks up the user and creates the link when it sends the email. The link is not stored. */
  | { kind: "sign_in_link" | "password_reset"; to: string; details: Details["sign_in_link"] }
  | { kind: "address_confirmation"; to: string; details: Details["address_confirmation"] }
  | { kind: "address_changed"; to: string; details: Details["address_changed"]; expiresAt: Date }
  | { kind: "new_device"; to: string; details: Details["new_device"]; expiresAt: Date }
  | { kind: "invitation"; to: string; details: Details["invitation"]; expiresAt: Date }
  | { kind: "alert"; to: string; details: Details["alert"]; expiresAt: Date }
  | { kind: "team_deletion"; to: string; details: Details["team_deletion"]; expiresAt: Date };

type SystemEmailDeps = Pick<Deps, "db" | "transportKind" | "home">;

/**
 * Why system email cannot be sent and how to fix it; null if it can. It requires a relay for the whole
 * installation or `SMTP_URL`, and a valid sender address. In capture mode no email reaches its recipient.
 */
export async function findSystemEmailFault({
  db,
  transportKind,
  home,
}: SystemEmailDeps): Promise<string | null> {
  if (transportKind === "capture") return CAPTURED;
  if (transportKind === "none") {
    const [relay] = await db
      .select({ id: relays.id })
      .from(relays)
      .where(and(isNull(relays.teamId), isRelayInUse))
      .limit(1);
    if (!relay) return "Outgoing email is not configured. Add a relay or set SMTP_URL.";
  }
  if (parseMailbox(home.sender).ok) return null;
  return `${home.sender} is not a valid sender address. Set BACKSTAMP_SYSTEM_FROM to an address such as backstamp@example.com.`;
}

/**
 * Queues a system email in `tx`, the transaction of the change that causes it. Call `deps.wake()` after the
 * commit. Does not check whether system email can be sent (see `findSystemEmailFault`). RangeError for an
 * invalid sender address.
 */
export async function queueSystemEmail(
  tx: Db,
  deps: Pick<Deps, "vault" | "home">,
  email: SystemEmail,
): Promise<void> {
  const sender = parseMailbox(deps.home.sender);
  if (!sender.ok) throw new RangeError(`invalid sender of system email: ${sender.fault}`);
  const id = newId();
  await tx.insert(systemMails).values({
    id,
    kind: email.kind,
    recipient: email.to.toLowerCase(),
    details: sealDetails(deps.vault, id, email.details),
    expiresAt:
      "expiresAt" in email ? email.expiresAt : sql`now() + ${linkDeliveryMinutes} * interval '1 minute'`,
    messageId: `${id}@${sender.mailbox.domain}`,
  });
}

/**
 * Queues an email with a link, up to `LINKS_MAX` per address. Does the same work whether or not a user has
 * the address: the worker looks it up. Returns whether the email was queued; never disclose that to the
 * visitor.
 */
export async function queueLink(
  deps: Pick<Deps, "db" | "vault" | "home">,
  email: Extract<SystemEmail, { kind: keyof typeof LINKS_MAX }>,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    // Serializes requests for one address. Otherwise concurrent requests could exceed the limit.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`system-mail ${email.to}`}, 0))`);
    const { kind, to } = email;
    if ((await countRecent(tx, { kind, to, minutes: LINK_MINUTES[kind] })) >= LINKS_MAX[kind]) return false;
    await queueSystemEmail(tx, deps, email);
    return true;
  });
}

/** How many emails of a kind were queued to an address in the last minutes. */
export async function countRecent(
  tx: Db,
  { kind, to, minutes }: { kind: SystemMailKind; to: string; minutes: number },
): Promise<number> {
  const [row] = await tx
    .select({ emails: count() })
    .from(systemMails)
    .where(
      and(
        eq(systemMails.recipient, to),
        eq(systemMails.kind, kind),
        gt(systemMails.createdAt, sql`now() - ${minutes} * interval '1 minute'`),
      ),
    );
  return row?.emails ?? 0;
}
