import { MEANINGS, type ReplyClass } from "#server/shared/reply-classes";
import { classifyReply } from "./replies/classify";

/**
 * One SMTP reply. `enhanced` is an RFC 3463 code such as "5.1.1"; `text` has no codes and no control
 * characters.
 */
export type Reply = { code: number | null; enhanced: string | null; text: string };

/** The step of the SMTP dialogue that a reply belongs to. "message" is the reply to the final dot. */
export type ReplyStep = "connect" | "tls" | "auth" | "mail" | "rcpt" | "data" | "message";

/**
 * The result of one attempt for one recipient. accepted: the server accepted the message. deferred: certainly
 * not accepted; a later attempt may succeed. rejected: permanently rejected; `reply: null` means that
 * Backstamp rejected it without contacting a server. unknown: the final dot was written and no reply arrived,
 * so the message may or may not be delivered. `alarm` names a fault of the transport (its login, TLS or
 * reachability) that an operator must fix. `needsConfirmation` marks our own rejection that one wrong DNS
 * answer could cause: two attempts must confirm it. `dialogue` is the SMTP transcript: commands and replies,
 * no message, no credentials, at most 8 KB. `relayId` is the relay that produced the outcome. `providerId` is
 * the provider's own id of the message.
 */
export type Outcome = {
  recipient: string;
  kind: "accepted" | "deferred" | "rejected" | "unknown";
  reply: Reply | null;
  host: string | null;
  reason: string;
  /** Why the server rejected or deferred the email; absent without such a reply. */
  class?: ReplyClass;
  /** The rule that determined the class: a row of the tables in `replies/`, a code, or an operator's rule. */
  replyRule?: string;
  /** The reply says that the address will never accept email. */
  isDead?: boolean;
  /** The step at which the server rejected the email. */
  step?: ReplyStep;
  needsConfirmation?: true;
  /**
   * The transaction reached its recipient limit after it accepted others: the next one may accept this
   * recipient.
   */
  nextTransaction?: true;
  alarm?: "auth" | "tls" | "connect";
  dialogue?: string;
  relayId?: string;
  providerId?: string;
  /**
   * Our own internal error. For the operator's log only: its message may contain details that a team must not
   * see.
   */
  cause?: unknown;
};

/** Longest stored reply text, in characters. */
export const REPLY_TEXT_MAX = 1000;

/** Replies about our own login (RFC 4954). They never concern the recipient, so they never cause a bounce. */
const AUTH_CODES: ReadonlySet<number> = new Set([530, 534, 535, 538]);
const AUTH_ENHANCED: ReadonlySet<string> = new Set(["5.7.8", "5.7.9", "5.7.11"]);

/** "Bad sequence of commands" is an error in the dialogue, not a verdict on the recipient. */
const OUT_OF_SEQUENCE = 503;

/** More specific summaries for `hard`, by the detail of the enhanced code (RFC 3463, RFC 7505). */
const DEAD_BY_DETAIL: Readonly<Record<string, string>> = {
  "1.2": "the domain does not exist",
  "1.3": "the address is not valid",
  "1.6": "the mailbox has moved",
  "1.10": "the domain does not accept email",
  "2.1": "the mailbox is disabled",
};

/**
 * Parses a raw reply, its lines joined by `\n` or `\r\n`. Text without a three-digit code has `code: null`.
 * Control characters become spaces: the text is safe to store and to display.
 */
export function parseSmtpReply(text: string): Reply {
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
  const cleaned = cleanText(words.join(" "));
  // qmail and compatible servers put the enhanced code in parentheses at the end.
  enhanced ??= /\(#([245]\.[0-9]{1,3}\.[0-9]{1,3})\)/.exec(cleaned)?.[1] ?? null;
  return { code: Number(code), enhanced, text: cleaned };
}

/**
 * Converts one reply into the outcome of one recipient, with its class from the tables in `replies/`. 2xx is
 * accepted. The basic code decides whether a rejection is permanent (RFC 5321 section 4.2), even if the
 * enhanced code contradicts it; the exception is 503, which defers. A reply without a code or with an
 * unexpected one defers. A reply about our own login defers with `alarm: "auth"`.
 */
export function outcomeOfReply(
  recipient: string,
  reply: Reply,
  host: string | null,
  step: ReplyStep = "message",
): Outcome {
  const by = host ?? "The server";
  if (reply.code !== null && reply.code >= 200 && reply.code < 300)
    return { recipient, kind: "accepted", reply, host, reason: `${by} accepted the email.` };

  const common = { recipient, reply, host };
  const alarm = alarmOf(reply, step);
  if (alarm !== null) {
    const isLogin = alarm === "auth";
    const reason = `${by} ${isLogin ? "rejected our login" : "requires encryption"}: ${quote(reply)}`;
    return { ...common, kind: "deferred", class: isLogin ? "login" : "tls", alarm, reason };
  }
  if (reply.code === null)
    return {
      ...common,
      kind: "deferred",
      class: "soft",
      reason: `${by} returned an invalid SMTP reply.`,
    };
  const isPermanent = reply.code >= 500 && reply.code !== OUT_OF_SEQUENCE;
  const { class: replyClass, rule: replyRule, isDead } = classifyReply(reply, isPermanent);
  const classified = { ...common, class: replyClass, replyRule, step };
  const verdict = `rejected the email ${isPermanent ? "permanently" : "temporarily"}`;
  const reason = `${by} ${verdict}: ${explain(reply, replyClass, isPermanent)}`;
  if (isPermanent) return { ...classified, kind: "rejected", isDead, reason };
  return { ...classified, kind: "deferred", reason };
}

/** The class of a stored reply; null if the reply is not a rejection. */
export const getReplyClass = (reply: Reply): ReplyClass | null =>
  outcomeOfReply("", reply, null).class ?? null;

/** Advice for rejections of this class, as a sentence. */
export const getAdvice = (replyClass: ReplyClass): string => MEANINGS[replyClass].advice;

/** Whether the first digits of code and enhanced code differ. The basic code then wins. */
export const isContradictory = ({ code, enhanced }: Reply): boolean =>
  code !== null && enhanced !== null && enhanced[0] !== String(code)[0];

function alarmOf(reply: Reply, step: ReplyStep): "auth" | "tls" | null {
  if (reply.code === null || reply.code < 400) return step === "auth" ? "auth" : null;
  if (reply.code === 530 && /starttls|tls|encrypt/i.test(reply.text)) return "tls";
  if (step === "auth" || AUTH_CODES.has(reply.code)) return "auth";
  // After the sender is accepted the login is valid, and some servers use these codes for policy (Yahoo: 554
  // 5.7.9).
  return step === "mail" && reply.enhanced !== null && AUTH_ENHANCED.has(reply.enhanced) ? "auth" : null;
}

function explain(reply: Reply, replyClass: ReplyClass, isPermanent: boolean): string {
  // A temporary rejection of an address is not final: the server may still be verifying it with another
  // server.
  if (replyClass === "hard" && !isPermanent) return `the address could not be verified (${quote(reply)})`;
  const detail = replyClass === "hard" ? DEAD_BY_DETAIL[reply.enhanced?.slice(2) ?? ""] : undefined;
  return `${detail ?? MEANINGS[replyClass].summary} (${quote(reply)})`;
}

/** A reply on one line: basic code, enhanced code and text. */
export function quote(reply: Reply): string {
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== "").join(" ");
}

/**
 * Makes untrusted text safe for the database and for pages: no control characters, no lone surrogates,
 * bounded length.
 */
export function cleanText(text: string, maxChars: number = REPLY_TEXT_MAX): string {
  // Most texts are printable ASCII, for which the patterns below cost four times as much.
  if (text.length <= maxChars && !/[^ -~]/.test(text)) return text.trim();
  return text
    .slice(0, maxChars * 2)
    .replace(/\p{Cc}+/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim()
    .slice(0, maxChars)
    .replace(/\p{Cs}$/u, "");
}
