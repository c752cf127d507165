import type { Outcome } from "./outcome";

/**
 * What an enhanced code (RFC 3463) may say of an address for it to count as dead: no such mailbox, no such mail domain, no
 * valid address, moved without a trace, takes no mail at all (RFC 7505), mailbox disabled. Everything else may be mended by
 * the sender, by the host, or by time: a full mailbox, policy (5.7.x), systems and routing (5.3.x, 5.4.x).
 */
const DEAD: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"]);

/**
 * Whether a refusal says that the address itself will never take mail. Only by a code that says so, never by words alone, and
 * not where the words beside the code give another reason, such as a block list or a limit: then its class is another. And
 * only where the reply is about this recipient: one to the sender is about somebody else, and one to a message for several
 * would condemn all of them for one.
 */
export function saysAddressIsDead(
  { kind, reply, step, class: about }: Outcome,
  recipientsOfMessage: number,
): boolean {
  if (kind !== "rejected" || (about ?? "hard") !== "hard" || !reply?.enhanced || !DEAD.has(reply.enhanced))
    return false;
  return step === "rcpt" || (step !== "mail" && recipientsOfMessage === 1);
}
