import type { Deps } from "#server/deps";
import type { About } from "#server/mail/bounce/report";
import { isId } from "#server/platform/ids";
import { unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { findDeliveryTo, findRecentDelivery } from "./apply";

/**
 * Older emails are not found by Message-ID: servers no longer retry them, and too many people may have seen
 * the Message-ID.
 */
const daysMax = 10;

/**
 * The delivery that a report is about. `isProven`: identified by a token of ours that only its copy
 * contained.
 */
export type FoundDelivery = { deliveryId: string; isProven: boolean };

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
): Promise<FoundDelivery | null> {
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

/**
 * Finds the delivery of a recent email by its Message-ID and a recipient, which everyone who saw the email
 * knows.
 */
export async function findByMessageId(
  deps: Pick<Deps, "hot">,
  messageId: string | null,
  addresses: readonly string[],
): Promise<FoundDelivery | null> {
  const emailId = messageId?.split("@")[0]?.toLowerCase();
  if (!messageId || !emailId || !isId(emailId) || addresses.length === 0) return null;
  const deliveryId = await findRecentDelivery(deps.hot, { messageId, emailId, addresses, daysMax });
  return deliveryId === null ? null : { deliveryId, isProven: false };
}
