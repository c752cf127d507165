import { and, count, eq, gt, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { relays } from "#db/schema/relays";
import { type SystemMailKind, systemMails } from "#db/schema/system-mails";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";
import { parseMailbox } from "#server/mail/address";
import { type Details, sealDetails } from "./details";

/** How long Posthorn tries to hand over a link that somebody waits for at their screen. */
const waitedForMinutes = 60;

/**
 * Links that an address is sent within the life of one. Whoever is refused another has one in the mailbox that still works, so
 * strangers who ask can neither fill a mailbox nor keep its owner out.
 */
export const LINKS_MAX = { sign_in_link: 3, password_reset: 3 } as const;

/** Minutes for which a mailed link opens, from the moment that it is sent. */
export const LINK_MINUTES = { sign_in_link: 15, password_reset: 30 } as const;

/** A mail of Posthorn's own. What it may hold beside these is not for a mail. */
export type SystemMail =
  /** Found out when it is sent: whether anybody has that address, and the link, which is kept nowhere. */
  | { kind: "sign_in_link" | "password_reset"; to: string; details: Details["sign_in_link"] }
  | { kind: "invitation"; to: string; details: Details["invitation"]; expiresAt: Date };

/**
 * Whether mail of our own goes anywhere: there is a way out for the whole installation, and a sender that mail can have. Where
 * mail is captured it goes nowhere, since nobody is shown it. What would mail is absent otherwise, and says so.
 */
export async function canSendSystemMail({
  db,
  transportKind,
  home,
}: Pick<Deps, "db" | "transportKind" | "home">): Promise<boolean> {
  if (transportKind === "capture" || !parseMailbox(home.sender).ok) return false;
  if (transportKind !== "none") return true;
  const [relay] = await db.select({ id: relays.id }).from(relays).where(isNull(relays.teamId)).limit(1);
  return relay !== undefined;
}

/**
 * Accepts a mail of our own in `tx`, the transaction of what it is about. Call `deps.wake()` once that is committed. It is not
 * asked here whether it can be sent; see `canSendSystemMail`. RangeError where the installation's sender is no address.
 */
export async function queueSystemMail(
  tx: Db,
  deps: Pick<Deps, "vault" | "home">,
  mail: SystemMail,
): Promise<void> {
  const sender = parseMailbox(deps.home.sender);
  if (!sender.ok) throw new RangeError(`the sender of our own mail: ${sender.fault}`);
  const id = newId();
  await tx.insert(systemMails).values({
    id,
    kind: mail.kind,
    recipient: mail.to.toLowerCase(),
    details: sealDetails(deps.vault, id, mail.details),
    expiresAt:
      mail.kind === "invitation" ? mail.expiresAt : sql`now() + ${waitedForMinutes} * interval '1 minute'`,
    messageId: `${id}@${sender.mailbox.domain}`,
  });
}

/**
 * The same for a link, unless the address has been sent enough of them. Does the same whoever has the address: that is looked
 * up only when it is sent. Tells whether it was accepted, which is not for whoever asked.
 */
export async function queueLink(
  deps: Pick<Deps, "db" | "vault" | "home">,
  mail: Extract<SystemMail, { kind: keyof typeof LINKS_MAX }>,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    // One after the other for an address: those that ask at once must not each find room.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`system-mail ${mail.to}`}, 0))`);
    if ((await countRecent(tx, mail.kind, mail.to)) >= LINKS_MAX[mail.kind]) return false;
    await queueSystemMail(tx, deps, mail);
    return true;
  });
}

async function countRecent(tx: Db, kind: keyof typeof LINK_MINUTES & SystemMailKind, to: string) {
  const [row] = await tx
    .select({ mails: count() })
    .from(systemMails)
    .where(
      and(
        eq(systemMails.recipient, to),
        eq(systemMails.kind, kind),
        gt(systemMails.createdAt, sql`now() - ${LINK_MINUTES[kind]} * interval '1 minute'`),
      ),
    );
  return row?.mails ?? 0;
}
