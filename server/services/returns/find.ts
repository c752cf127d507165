import { findDeliveryTo, findRecentDelivery } from "#db/returns";
import type { Deps } from "#server/deps";
import { isId } from "#server/ids";
import type { About } from "#server/mail/bounce/report";
import { unsubscribePath } from "#server/recipient-tokens";

/** Older mail is not found by its Message-ID: by then servers have given up, and who still knows it may be anybody. */
const daysMax = 10;

/** A delivery that something came back about; `isProven` where a token of ours says so, which only its copy held. */
export type Found = { deliveryId: string; isProven: boolean };

/** The delivery that a return path is the token of; null for every other address. */
export function openReturnPath(deps: Pick<Deps, "recipientTokens">, address: string): string | null {
  return deps.recipientTokens.openReturnPath(address.slice(0, address.lastIndexOf("@")));
}

/**
 * Finds the one delivery whose copy of a mail came back, by what was in no other: its return path, or its link to unsubscribe.
 * Null where neither is there, or is ours.
 */
export async function findByToken(
  deps: Pick<Deps, "hot" | "recipientTokens">,
  { returnPaths, unsubscribeLinks }: About,
): Promise<Found | null> {
  for (const address of returnPaths) {
    const deliveryId = openReturnPath(deps, address);
    if (deliveryId !== null) return { deliveryId, isProven: true };
  }
  const before = unsubscribePath.replace("{token}", "");
  for (const link of unsubscribeLinks) {
    const at = link.indexOf(before);
    const subscriber =
      at === -1 ? null : deps.recipientTokens.openUnsubscribe(link.slice(at + before.length));
    const deliveryId = subscriber && (await findDeliveryTo(deps.hot, subscriber));
    if (deliveryId) return { deliveryId, isProven: true };
  }
  return null;
}

/** Finds a delivery by what everybody can know who saw the mail: its Message-ID and a recipient, while it is young. */
export async function findByMessageId(
  deps: Pick<Deps, "hot">,
  messageId: string | null,
  addresses: readonly string[],
): Promise<Found | null> {
  const emailId = messageId?.split("@")[0]?.toLowerCase();
  if (!messageId || !emailId || !isId(emailId) || addresses.length === 0) return null;
  const deliveryId = await findRecentDelivery(deps.hot, { messageId, emailId, addresses, daysMax });
  return deliveryId === null ? null : { deliveryId, isProven: false };
}
