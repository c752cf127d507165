import { MEANINGS, type ReplyClass } from "./replies/classes";
import { classifyReply } from "./replies/classify";

/** One SMTP reply. `enhanced` is an RFC 3463 code such as "5.1.1"; `text` has no codes and no control characters. */
export type Reply = { code: number | null; enhanced: string | null; text: string };

/** Where in the dialogue a reply was given. "message" is the reply to the final dot. */
export type ReplyStep = "connect" | "tls" | "auth" | "mail" | "rcpt" | "data" | "message";

/**
 * What became of one recipient in one attempt.
 * accepted: the server took the message. deferred: surely not accepted, a later attempt may be. rejected: refused for
 * good; with `reply: null` the refusal is our own and no server was asked. unknown: the final dot was written and no
 * reply came, so the message may or may not be delivered.
 * `alarm` names a fault of the transport itself (its login, its TLS, its reachability) that an operator must mend.
 * `needsSecondLook` marks a refusal of our own that one wrong answer of DNS would make too: two attempts must see it.
 * `dialogue` is the SMTP conversation: commands and replies, no message, no credentials, at most 8 KB.
 * `relayId` names the one of several relays whose outcome it is, `providerId` what its provider calls the message.
 */
export type Outcome = {
  recipient: string;
  kind: "accepted" | "deferred" | "rejected" | "unknown";
  reply: Reply | null;
  host: string | null;
  reason: string;
  /** What a refusal is about; absent where no server refused. */
  class?: ReplyClass;
  /** Where a refusal was spoken. */
  step?: ReplyStep;
  needsSecondLook?: true;
  alarm?: "auth" | "tls" | "connect";
  dialogue?: string;
  relayId?: string;
  providerId?: string;
};

/** Longest reply text kept, in characters. */
export const REPLY_TEXT_MAX = 1000;

/** Replies about our own login (RFC 4954): never the recipient's fault, so never a bounce. */
const AUTH_CODES: ReadonlySet<number> = new Set([530, 534, 535, 538]);
const AUTH_ENHANCED: ReadonlySet<string> = new Set(["5.7.8", "5.7.9", "5.7.11"]);

/** Codes that a later attempt may see turned, whatever class they or their enhanced code claim. */
const DEFER_ANYWHERE: ReadonlySet<number> = new Set([421, 503]);

/** RFC 5321 section 4.5.3.1.10: 552 at RCPT means "too many recipients" and is to be treated as 452. */
const DEFER_AT_RCPT: ReadonlySet<number> = new Set([552]);

/** What of a dead address the detail of an enhanced code says more exactly (RFC 3463, RFC 7505). */
const DEAD_BY_DETAIL: Readonly<Record<string, string>> = {
  "1.2": "there is no such mail domain",
  "1.3": "the address is not a valid one there",
  "1.6": "the mailbox has moved",
  "1.10": "the domain takes no mail",
  "2.1": "the mailbox is disabled",
};

/**
 * Reads a reply as it came, lines joined by `\n` or `\r\n`. Text without a three-digit code has `code: null`.
 * Control characters become blanks, so that the text can be stored and shown anywhere.
 */
export function readReply(text: string): Reply {
  const lines = text.split(/\r?\n/, 100).filter((line) => line.trim() !== "");
  const code = /^([2-5][0-9]{2})(?![0-9])/.exec(lines[0] ?? "")?.[1];
  if (code === undefined) return { code: null, enhanced: null, text: cleanText(lines.join(" ")) };
  let enhanced: string | null = null;
  const words = lines.map((line) => {
    const rest = line.startsWith(code) ? line.slice(4) : line;
    const status = /^#?([245]\.[0-9]{1,3}\.[0-9]{1,3})(?:\s+|$)/.exec(rest);
    if (status?.[1] === undefined) return rest;
    enhanced ??= status[1];
    return rest.slice(status[0].length);
  });
  const said = cleanText(words.join(" "));
  // qmail and its kin give the enhanced code in brackets at the end.
  enhanced ??= /\(#([245]\.[0-9]{1,3}\.[0-9]{1,3})\)/.exec(said)?.[1] ?? null;
  return { code: Number(code), enhanced, text: said };
}

/**
 * Judges one reply for one recipient, with its class from the table in `replies/`. 2xx is accepted. Otherwise the enhanced class decides where it contradicts the
 * basic code (RFC 3463 section 2); 421 and 503 defer anywhere, 552 defers at RCPT; a reply without a code, or with one
 * that does not belong here, defers. Replies about our own login defer with `alarm: "auth"`.
 */
export function outcomeOfReply(
  recipient: string,
  reply: Reply,
  host: string | null,
  step: ReplyStep = "message",
): Outcome {
  const by = host ?? "The server";
  if (reply.code !== null && reply.code >= 200 && reply.code < 300)
    return { recipient, kind: "accepted", reply, host, reason: `${by} accepted the message.` };

  const told = { recipient, reply, host };
  const alarm = alarmOf(reply, step);
  if (alarm !== null) {
    const isLogin = alarm === "auth";
    const reason = `${by} ${isLogin ? "refuses our login" : "demands encryption"}: ${quote(reply)}`;
    return { ...told, kind: "deferred", class: isLogin ? "login" : "tls", alarm, reason };
  }
  if (reply.code === null)
    return {
      ...told,
      kind: "deferred",
      class: "soft",
      reason: `${by} gave an answer that is no SMTP reply.`,
    };
  const isForGood = isPermanent(reply, step);
  const about = classifyReply(reply, isForGood);
  const reason = `${by} ${isForGood ? "refused for good" : "asks to try later"}: ${explain(reply, about, isForGood)}`;
  if (isForGood) return { ...told, kind: "rejected", class: about, step, reason };
  return { ...told, kind: "deferred", class: about, reason };
}

/** What a stored reply is about; null where it was no refusal. */
export const classOfReply = (reply: Reply): ReplyClass | null =>
  outcomeOfReply("", reply, null).class ?? null;

/** What would help against a refusal of this class, as a sentence. */
export const adviceOn = (about: ReplyClass): string => MEANINGS[about].helps;

function isPermanent(reply: Reply, step: ReplyStep): boolean {
  const { code, enhanced } = reply;
  if (code === null || DEFER_ANYWHERE.has(code)) return false;
  if (step === "rcpt" && DEFER_AT_RCPT.has(code)) return false;
  if (enhanced?.startsWith("4.")) return false;
  if (enhanced?.startsWith("5.")) return code >= 400;
  return code >= 500;
}

function alarmOf(reply: Reply, step: ReplyStep): "auth" | "tls" | null {
  if (reply.code === null || reply.code < 400) return step === "auth" ? "auth" : null;
  if (reply.code === 530 && /starttls|tls|encrypt/i.test(reply.text)) return "tls";
  if (step === "auth" || AUTH_CODES.has(reply.code)) return "auth";
  // Once a sender is accepted the login is good, and some servers use these codes for their policy (Yahoo: 554 5.7.9).
  return step === "mail" && reply.enhanced !== null && AUTH_ENHANCED.has(reply.enhanced) ? "auth" : null;
}

function explain(reply: Reply, about: ReplyClass, isForGood: boolean): string {
  // Whoever refuses an address only for now is not sure of it, or still asks elsewhere.
  if (about === "hard" && !isForGood) return `the address is not known there, or not yet (${quote(reply)})`;
  const detail = about === "hard" ? DEAD_BY_DETAIL[reply.enhanced?.slice(2) ?? ""] : undefined;
  return `${detail ?? MEANINGS[about].happened} (${quote(reply)})`;
}

function quote(reply: Reply): string {
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== "").join(" ");
}

/** Makes text of a stranger fit for a database and a page: no controls, no lone surrogates, bounded. */
export function cleanText(text: string, maxChars: number = REPLY_TEXT_MAX): string {
  return text
    .slice(0, maxChars * 2)
    .replace(/\p{Cc}+/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim()
    .slice(0, maxChars)
    .replace(/\p{Cs}$/u, "");
}
