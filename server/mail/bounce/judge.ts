import { saysAddressIsDead } from "../dead-address";
import { adviceOn, type Outcome, outcomeOfReply } from "../outcome";
import { MEANINGS, type ReplyClass } from "../replies/classes";
import type { Reported } from "./report";

/** What a report of a failure or a delay comes to, in the words and classes of the SMTP replies. */
export type Judged = { class: ReplyClass; reason: string; advice: string; isDead: boolean };

/**
 * Reads what a server reported by the table that reads SMTP replies. `isDead` says that the address itself will never take
 * mail, which only a code that says so can tell.
 */
export function judgeReported({ action, recipients, reply, host }: Reported): Judged {
  const isUntold = reply.code === null && reply.enhanced === null;
  // Without a code of the dialogue the class of the enhanced one stands for it.
  const code = reply.code ?? (reply.enhanced?.startsWith("4.") ? 450 : 550);
  const outcome: Outcome = outcomeOfReply(recipients[0] ?? "", { ...reply, code }, host);
  // What they say of a login or of encryption is between servers that are not ours.
  const found = outcome.alarm ? "policy" : (outcome.class ?? "other");
  const about = isUntold && reply.text === "" ? "other" : found;
  const said = [reply.code, reply.enhanced, reply.text]
    .filter((part) => part !== null && part !== "")
    .join(" ");
  const happened = `${MEANINGS[about].happened}${said === "" ? "" : ` (${said})`}`;
  return {
    class: about,
    reason:
      action === "failed"
        ? `It came back after it was taken: ${happened}.`
        : `${host ?? "A server"} has it and could not deliver it yet: ${happened}.`,
    advice: adviceOn(about),
    isDead: action === "failed" && saysAddressIsDead(outcome, 1),
  };
}
