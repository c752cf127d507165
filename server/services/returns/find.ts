import type { HotSql } from "#db/client";
import type { DeliveryKey } from "#db/schema/deliveries";
import type { Deps, PublicNames } from "#server/deps";
import type { About } from "#server/mail/bounce/report";
import { type HeaderSignature, isSignedBy } from "#server/mail/dkim/verify";
import { firstIdAt, isId, timeOfId } from "#server/platform/ids";
import { unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { foldAddress } from "#server/shared/text/fold-address";

/**
 * Older emails are not found by Message-ID: servers no longer retry them, and too many people may have seen
 * the Message-ID.
 */
const daysMax = 10;

/**
 * One request creates the ids of an email and of its deliveries. So this is far more than their times differ,
 * and far less than a search for the email of a delivery may read.
 */
const idsApartMs = 60 * 60_000;

const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf("@"));

/**
 * The address of this installation for the feedback loops of mailbox providers, which are registered with a
 * fixed one; null if no host name is configured at which email can arrive.
 */
export function feedbackAddressOf({ returnPathDomain, mailHost }: PublicNames): string | null {
  const domain = returnPathDomain ?? mailHost;
  return domain === null ? null : `feedback@${domain}`;
}

export const isFeedbackAddress = ({ names }: Pick<Deps, "names">, address: string): boolean =>
  address.toLowerCase() === feedbackAddressOf(names);

/** Whether email to this address is for us: a return path with a token of ours, or the feedback address. */
export const isOurs = (deps: Pick<Deps, "names" | "recipientTokens">, address: string): boolean =>
  deps.recipientTokens.openReturnPath(localPartOf(address)) !== null || isFeedbackAddress(deps, address);

/**
 * Finds the delivery that a report is about by a token that only its copy contained: in its return path, its
 * Feedback-ID or its unsubscribe link. `deleted` if a token is of a delivery that no longer exists; null if
 * no token is present and valid.
 */
export async function findByToken(
  deps: Pick<Deps, "hot" | "recipientTokens">,
  { returnPaths, feedbackId, unsubscribeLinks }: Omit<About, "messageId">,
): Promise<Addressed | "deleted" | null> {
  for (const token of [...returnPaths.map(localPartOf), feedbackId?.split(":", 1)[0] ?? ""]) {
    const deliveryId = deps.recipientTokens.openReturnPath(token);
    if (deliveryId !== null) return (await findById(deps.hot, deliveryId)) ?? "deleted";
  }
  const before = unsubscribePath.replace("{token}", "");
  for (const link of unsubscribeLinks) {
    const at = link.indexOf(before);
    const subscriber =
      at === -1 ? null : deps.recipientTokens.openUnsubscribe(link.slice(at + before.length));
    if (!subscriber) continue;
    const { teamId, emailId, address } = subscriber;
    const deliveries = await deps.hot<Addressed[]>`
      select team_id as "teamId", email_id as "emailId", id, address from deliveries
      where team_id = ${teamId} and email_id = ${emailId} order by position`;
    const [found] = filterByAddress(deliveries, [address]);
    if (found) return found;
  }
  return null;
}

export type Addressed = DeliveryKey & { address: string };

/**
 * The deliveries of a recent email by its Message-ID, which everyone who saw the email knows: of all teams,
 * or those that were attempted through a relay, for a team's relay only of this team. Looks the id up in each
 * team, because no index covers all teams.
 */
export async function findByMessageId(
  hot: HotSql,
  messageId: string | null,
  relay: { id: string | null; teamId: string | null } = { id: null, teamId: null },
): Promise<Addressed[]> {
  const emailId = messageId?.split("@")[0]?.toLowerCase();
  if (!messageId || !emailId || !isId(emailId)) return [];
  return hot<Addressed[]>`
    select d.team_id as "teamId", d.email_id as "emailId", d.id, d.address
    from teams t
    join emails e on e.team_id = t.id and e.id = ${emailId}
    join deliveries d on d.team_id = e.team_id and d.email_id = e.id
    where e.message_id = ${messageId} and e.created_at > now() - ${daysMax} * interval '1 day'
      and (${relay.id}::uuid is null or d.relay_id = ${relay.id}::uuid)
      and (${relay.teamId}::uuid is null or t.id = ${relay.teamId}::uuid)
    order by d.position`;
}

/** Whether one of the signatures is by a DKIM key of the sender's domain, which may be rotated out since. */
export async function isSignedAs(
  hot: HotSql,
  { teamId, emailId }: DeliveryKey,
  signatures: readonly HeaderSignature[],
): Promise<boolean> {
  const selectors = signatures.map(({ selector }) => selector);
  if (selectors.length === 0) return false;
  const keys = await hot<{ selector: string; algorithm: string; publicKey: string }[]>`
    select k.selector, k.algorithm, k.public_key as "publicKey" from emails e
    join domains d on d.team_id = e.team_id and d.name = e.sender_domain
    join dkim_keys k on k.team_id = d.team_id and k.domain_id = d.id
    where e.team_id = ${teamId} and e.id = ${emailId} and k.selector = any(${selectors}) and k.signs_from is not null`;
  return signatures.some((signature) =>
    keys.some(
      ({ selector, algorithm, publicKey }) =>
        selector === signature.selector &&
        algorithm === signature.algorithm &&
        isSignedBy(signature, publicKey),
    ),
  );
}

/** The deliveries to these addresses, case-insensitive. */
export function filterByAddress(deliveries: readonly Addressed[], addresses: readonly string[]): Addressed[] {
  const wanted = new Set(addresses.map(foldAddress));
  return deliveries.filter(({ address }) => wanted.has(foldAddress(address)));
}

/**
 * The delivery with this id, of any team. It reads only deliveries of emails from about the time in the id.
 */
async function findById(hot: HotSql, id: string): Promise<Addressed | null> {
  const createdMs = timeOfId(id).getTime();
  const [found] = await hot<Addressed[]>`
    select team_id as "teamId", email_id as "emailId", id, address from deliveries
    where id = ${id} and email_id >= ${firstIdAt(new Date(createdMs - idsApartMs))}
      and email_id < ${firstIdAt(new Date(createdMs + idsApartMs))}`;
  return found ?? null;
}
