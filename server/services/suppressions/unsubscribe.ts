import { and, eq, sql } from "drizzle-orm";
import { emails } from "#db/schema/emails";
import { suppressions } from "#db/schema/suppressions";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import type { Subscriber } from "#server/platform/secrets/recipient-tokens";
import { foldAddress } from "#server/shared/text/fold-address";
import { presentSuppression } from "#server/shared/wire/suppression";
import { countUnsubscribe } from "../metrics/count-unsubscribe";
import { announce } from "../webhooks/events/announce";
import { isBlocking } from "./blocking";
import { erasedFormOf } from "./erased";
import { findSuppressed } from "./read";
import { addRequested } from "./suppress";

/**
 * What a recipient still gets: `subscribed` to the list of the email, unsubscribed from that `list` or from
 * `all` lists, or `blocked`: no email at all, which the recipient cannot change. `domain` is that of the
 * sender; null if the email was deleted.
 */
export type Subscription = {
  state: "subscribed" | "list" | "all" | "blocked";
  domain: string | null;
};

/** The state of the recipient of a link. Changes nothing. */
export async function getSubscription(
  { db }: Pick<Deps, "db">,
  { teamId, emailId, address, list = null }: Subscriber,
): Promise<Subscription> {
  const [found, [email]] = await Promise.all([
    findSuppressed({ db, teamId }, [address]),
    db
      .select({ domain: emails.senderDomain })
      .from(emails)
      .where(and(eq(emails.teamId, teamId), eq(emails.id, emailId))),
  ]);
  const entry = found.get(address);
  const isBlocked = entry !== undefined && isBlocking(entry, { listUnsubscribe: true, listName: list });
  const scope = !entry?.listsOnly ? "blocked" : entry.lists === null ? "all" : "list";
  return { state: isBlocked ? scope : "subscribed", domain: email?.domain ?? null };
}

/**
 * Unsubscribes an address from the list of the email, or from `all` of the team's emails with an unsubscribe
 * link; other emails are still sent. No effect if they are blocked already, which returns false. An address
 * that was erased is added as its hash.
 */
export async function unsubscribe(
  { db, log, wake }: Pick<Deps, "db" | "log" | "wake">,
  { teamId, emailId, address, list = null }: Subscriber,
  from: "list" | "all",
): Promise<boolean> {
  const id = newId();
  const lists = from === "list" && list !== null ? [list] : null;
  const [entry] = await addRequested(
    db,
    sql`
      select t.id as team_id, ${id}::uuid as id, coalesce(x.address_hash, ${foldAddress(address)}::text) as address,
        'unsubscribe' as origin, case when x.address_hash is null then ${emailId}::uuid end as source_email_id, true as lists_only,
        ${sql.param(lists)}::text[] as lists
      from teams t left join lateral (
        select e.address_hash from erasures e
        where e.team_id = t.id and e.status = 'done' and e.address_hash = ${erasedFormOf(teamId, foldAddress(address))}
        limit 1) x on true
      where t.id = ${teamId}`,
  );
  if (!entry || (entry.id !== id && !entry.isWidened)) return false;
  log.info("suppression.unsubscribed", { teamId, emailId });
  wake();
  // The recipient unsubscribed from the list of this email before, which was counted.
  if (list !== null && entry.listsBefore.includes(list)) return true;
  // After the commit: the count waits for other counts of the team, and a recipient's request must not depend
  // on them.
  try {
    await db.transaction((tx) => countUnsubscribe(tx, { teamId, emailId, address }));
  } catch (error) {
    log.warn("metrics.unsubscribe_not_counted", { teamId, emailId, ...errorFacts(error) });
  }
  return true;
}

/**
 * Ends the unsubscribe that blocks the list of the email: of this list, or of all lists if it blocks all. No
 * effect on an address that is blocked for another reason. The event `suppression.removed` names the lists
 * that are no longer blocked.
 */
export async function resubscribe(
  { db, clock, log, wake }: Pick<Deps, "db" | "clock" | "log" | "wake">,
  { teamId, emailId, address, list = null }: Subscriber,
): Promise<void> {
  const isEnded = await db.transaction(async (tx) => {
    const own = and(eq(suppressions.teamId, teamId), eq(suppressions.address, foldAddress(address)));
    const [entry] = await tx.select().from(suppressions).where(own).for("update");
    if (!entry?.listsOnly || !isBlocking(entry, { listUnsubscribe: true, listName: list })) return false;
    const left = entry.lists?.filter((name) => name !== list) ?? [];
    if (left.length > 0) await tx.update(suppressions).set({ lists: left }).where(own);
    else await tx.delete(suppressions).where(own);
    const removed = presentSuppression({ ...entry, lists: entry.lists && list !== null ? [list] : null });
    await announce({ db: tx, teamId, clock }, "suppression.removed", removed);
    return true;
  });
  if (!isEnded) return;
  log.info("suppression.resubscribed", { teamId, emailId });
  wake();
}
