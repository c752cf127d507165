import type { HotSql } from "#db/client";
import type { Deps } from "#server/deps";
import type { About } from "#server/mail/bounce/report";
import { isId } from "#server/platform/ids";
import { unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { foldAddress } from "#server/shared/fold-address";

/**
 * Older emails are not found by Message-ID: servers no longer retry them, and too many people may have seen
 * the Message-ID.
 */
const daysMax = 10;

/** The delivery whose token is in a return path; null for every other address. */
export function openReturnPath(deps: Pick<Deps, "recipientTokens">, address: string): string | null {
  return deps.recipientTokens.openReturnPath(address.slice(0, address.lastIndexOf("@")));
}

/**
 * Finds the delivery that a report is about by a token that only its copy contained: in its return path or
 * its unsubscribe link. Null if neither is present and valid.
 */
export async function findByToken(
  deps: Pick<Deps, "hot" | "recipientTokens">,
  { returnPaths, unsubscribeLinks }: About,
): Promise<string | null> {
  for (const address of returnPaths) {
    const deliveryId = openReturnPath(deps, address);
    if (deliveryId !== null) return deliveryId;
  }
  const before = unsubscribePath.replace("{token}", "");
  for (const link of unsubscribeLinks) {
    const at = link.indexOf(before);
    const subscriber =
      at === -1 ? null : deps.recipientTokens.openUnsubscribe(link.slice(at + before.length));
    if (!subscriber) continue;
    const { teamId, emailId, address } = subscriber;
    const deliveries = await deps.hot<Addressed[]>`
      select id, address from deliveries where team_id = ${teamId} and email_id = ${emailId} order by position`;
    const [found] = filterByAddress(deliveries, [address]);
    if (found) return found.id;
  }
  return null;
}

export type Addressed = { id: string; address: string };

/**
 * The deliveries of a recent email by its Message-ID, which everyone who saw the email knows: of all teams, or those that were
 * attempted through a relay, for a team's relay only of this team. Looks the id up in each team, because no index covers all
 * teams.
 */
export async function findByMessageId(
  hot: HotSql,
  messageId: string | null,
  relay: { id: string | null; teamId: string | null } = { id: null, teamId: null },
): Promise<Addressed[]> {
  const emailId = messageId?.split("@")[0]?.toLowerCase();
  if (!messageId || !emailId || !isId(emailId)) return [];
  return hot<Addressed[]>`
    select d.id, d.address
    from teams t
    join emails e on e.team_id = t.id and e.id = ${emailId}
    join deliveries d on d.team_id = e.team_id and d.email_id = e.id
    where e.message_id = ${messageId} and e.created_at > now() - ${daysMax} * interval '1 day'
      and (${relay.id}::uuid is null or d.relay_id = ${relay.id}::uuid)
      and (${relay.teamId}::uuid is null or t.id = ${relay.teamId}::uuid)
    order by d.position`;
}

/** The deliveries to these addresses, case-insensitive. */
export function filterByAddress(deliveries: readonly Addressed[], addresses: readonly string[]): Addressed[] {
  const wanted = new Set(addresses.map(foldAddress));
  return deliveries.filter(({ address }) => wanted.has(foldAddress(address)));
}

/** The recipient of a delivery; null if the delivery does not exist. */
export async function addressOfDelivery(hot: HotSql, id: string): Promise<string | null> {
  const [row] = await hot<{ address: string }[]>`select address from deliveries where id = ${id}`;
  return row?.address ?? null;
}
