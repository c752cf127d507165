import type { Outcome } from "../outcome";

/**
 * Enhanced codes (RFC 3463) of an address that will never accept email: no such mailbox, no such domain,
 * invalid address, moved without a forwarding address, null MX (RFC 7505), mailbox disabled. Other failures
 * can be resolved by the sender, by the host or with time: a full mailbox, policy (5.7.x), systems and
 * routing (5.3.x, 5.4.x).
 */
const DEAD: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"]);

/**
 * Whether a rejection means that the address will never accept email. Requires an enhanced code that says
 * this; text alone is not enough. If the text gives another reason, such as a block list or a limit, the
 * class differs and the result is false. The reply must concern this recipient: a reply to MAIL FROM concerns
 * the sender, and a reply to a message with several recipients does not identify one of them.
 */
export function isDeadAddress(
  { kind, reply, step, class: replyClass }: Outcome,
  recipientsOfMessage: number,
): boolean {
  if (kind !== "rejected" || (replyClass ?? "hard") !== "hard") return false;
  if (!DEAD.has(reply?.enhanced ?? "")) return false;
  return step === "rcpt" || (step !== "mail" && recipientsOfMessage === 1);
}
