import { MEANINGS, type ReplyClass } from "#server/shared/reply-classes";
import { getAdvice, outcomeOfReply, quote } from "../outcome";
import { applyOwnRules, type OwnRule } from "../replies/own-rules";
import { isDeadAddress } from "./dead-address";
import type { Reported } from "./report";

/** The interpretation of a reported failure or delay, with the same classes and texts as an SMTP reply. */
export type Judged = {
  class: ReplyClass;
  replyRule: string | undefined;
  reason: string;
  advice: string;
  isDead: boolean;
};

/**
 * Interprets a reported failure or delay with the tables for SMTP replies. `isDead` means that the address
 * will never accept email. Rules of the operator change the class, and whether a failure suppresses the
 * address.
 */
export function interpretReported(
  { action, recipients, reply, host }: Reported,
  rules: readonly OwnRule[] = [],
): Judged {
  const hasNoCode = reply.code === null && reply.enhanced === null;
  // Without a basic code, derive one from the first digit of the enhanced code.
  const code = reply.code ?? (reply.enhanced?.startsWith("4.") ? 450 : 550);
  const [recipient = ""] = recipients;
  const domain = recipient.slice(recipient.lastIndexOf("@") + 1).toLowerCase();
  const outcome = applyOwnRules(rules, domain, outcomeOfReply(recipient, { ...reply, code }, host));
  // A reply about a login or encryption concerns a connection between other servers, not our relay.
  const derived = outcome.alarm ? "policy" : (outcome.class ?? "other");
  const replyClass = hasNoCode && reply.text === "" ? "other" : derived;
  const quoted = quote(reply);
  const explanation = `${MEANINGS[replyClass].summary}${quoted === "" ? "" : ` (${quoted})`}`;
  return {
    class: replyClass,
    replyRule: outcome.replyRule,
    reason:
      action === "failed"
        ? `Bounced after it was accepted: ${explanation}.`
        : `Delayed at ${host ?? "a server"}: ${explanation}.`,
    advice: getAdvice(replyClass),
    isDead: action === "failed" && isDeadAddress(outcome, 1),
  };
}
