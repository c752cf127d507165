import type { Outcome } from "../outcome";

/**
 * Whether a rejection means that the address will never accept email: its code says so, or words that say it
 * clearly. If the text gives another reason, such as a block list or a limit, the result is false. The reply
 * must concern this recipient: a reply to MAIL FROM concerns the sender, and a reply to a message with
 * several recipients does not identify one of them.
 */
export function isDeadAddress({ kind, isDead, step }: Outcome, recipientsOfMessage: number): boolean {
  if (kind !== "rejected" || !isDead) return false;
  return step === "rcpt" || (step !== "mail" && recipientsOfMessage === 1);
}
