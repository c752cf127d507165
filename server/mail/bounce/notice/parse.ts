import type { Reply } from "../../outcome";
import { classifyReply } from "../../replies/classify";
import { hasReplySubject, hasResponderField, isAutoReply, saysAbsent } from "../auto-reply";
import { parseDiagnostic } from "../diagnostic";
import { type Field, findAddresses, findField, findFields } from "../fields";
import type { Part } from "../mime";
import type { Reported } from "../report";
import { readStatement } from "./phrases";
import { findEntries, findLeading, readReturnedTo } from "./recipients";
import { type Notice, paragraphsOf } from "./text";

const openingChars = 4_000;
/** Paragraphs of a notice that are searched for a reason. */
const paragraphsMax = 60;
const recipientsMax = 100;

/** The beginning of a mail system's address. The short names are no beginning of a longer one. */
const MACHINE =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|post[-_.]?master|(?:e?mail|message)[-_.]?(?:delivery|system|subsystem|server|gateway|router)|microsoftexchange|non[-_.]?delivery|undeliver|sysadmin|system[-_. ]?admin|(?:m?daemon|mmdf|smtp|mta|ndr)(?![a-z0-9]))/i;
const RESPONSE_SUBJECT = /^\W{0,5}(?:re|aw|sv|fwd?|wg|tr|vs|antw|rif|odp) ?(?:\[\d+\])? ?:/i;
/** A reply code at the start of a line, as in a transcript. */
const REPLY_LINE = /^(?:[\s<|>]|received|remote host said:){0,20}[45]\d\d[ -]\S/i;

/** Classes that only a report about a recipient has, in the words of a notice. */
const OF_RECIPIENT: ReadonlySet<string> = new Set(["hard", "disabled", "quota"]);

/**
 * Reads bounces that do not follow RFC 3464: those of qmail, Exim, older Exchange, and notices in plain text
 * or HTML in many languages. Null if the message is not a bounce. What that takes depends on the sender: the
 * address of a mail system, the null sender (RFC 5321 section 4.5.5), or any other, which has to say in the
 * subject and in the text that an email was not delivered, and to whom. `returned` are the fields of the
 * returned email.
 */
export function parseNotice(
  { fields }: Part,
  notice: Notice,
  { returned, hasNullSender }: { returned: readonly Field[]; hasNullSender: boolean },
): Reported[] | null {
  const failed = listAddresses(fields, "x-failed-recipients", recipientsMax);
  const inText = readStatement(notice.lines.join("\n").slice(0, openingChars));
  const inSubject = readStatement(notice.subject);
  const isDelay = inText.isDelayed || inSubject.isDelayed;
  const own = ["to", "delivered-to", "from", "return-path", "x-original-to", "envelope-to"];
  const entries = findEntries(notice, {
    failed,
    own: [
      ...own.flatMap((name) => listAddresses(fields, name, 10)),
      ...["from", "return-path", "sender", "reply-to"].flatMap((name) => listAddresses(returned, name, 10)),
    ],
    returnedTo: readReturnedTo(returned),
  });
  const hasReply = notice.lines.some((line) => REPLY_LINE.test(line));
  const saysFailed = inText.isFailed || isDelay || hasReply;
  const isStated = saysFailed && inSubject.isFailed && !RESPONSE_SUBJECT.test(notice.subject);
  const isAboutEmail = entries.length > 0 || returned.length > 0;
  const ofMachine = () =>
    inSubject.isFailed ||
    (isAboutEmail && (saysFailed || OF_RECIPIENT.has(classOf(paragraphsOf(notice).join(" ")))));
  const ofNullSender = () => isStated || (hasReply && !isAutoReply(fields, notice.subject));
  const ofOthers = () => isStated && isAboutEmail && !hasResponderField(fields) && !isOfThread(fields);
  const isBounce = isMachine(fields)
    ? ofMachine()
    : !saysAbsent(notice.lines) && (hasNullSender ? ofNullSender() : ofOthers());
  if (failed.length === 0 && (!isBounce || hasReplySubject(notice.subject))) return null;
  const action = isDelay ? "delayed" : "failed";
  const getWhole = once(() => findReason(notice));
  if (entries.length === 0) return [{ action, recipients: [], reply: getWhole(), host: null }];
  return entries.map(({ addresses, lines }) => ({
    action,
    recipients: addresses,
    reply: findOwnReason(lines, getWhole, entries.length === 1),
    host: /\bhost ([\w.-]{1,255})/i.exec(lines.join(" "))?.[1] ?? null,
  }));
}

/**
 * Creates a function that finds what a notice says about a recipient, for a report that gives no reason for
 * it.
 */
export function createReasonFinder(notice: Notice): (addresses: readonly string[]) => Reply {
  const entries = findLeading(notice.lines, []);
  const linesOf = new Map(
    entries.flatMap(({ addresses, lines }) => addresses.map((address) => [address.toLowerCase(), lines])),
  );
  const getWhole = once(() => findReason(notice));
  return (addresses) => {
    const own = addresses.flatMap((address) => linesOf.get(address.toLowerCase()) ?? []);
    return findOwnReason(own, getWhole, entries.length <= 1);
  };
}

/**
 * What a notice says about one recipient: after its address, else anywhere. A reason that appears only once
 * applies to all recipients; an unclear one of several recipients is not replaced by that of another.
 */
function findOwnReason(lines: string[], getWhole: () => Reply, isOnly: boolean): Reply {
  if (!lines.some((line) => /\p{L}{3}/u.test(line))) return getWhole();
  const own = findReason({ subject: "", lines });
  if (!isOnly || isClear(own)) return own;
  return isClear(getWhole()) ? getWhole() : own;
}

const isClear = ({ code, text }: Reply): boolean => code !== null || !UNCLEAR.has(classOf(text));

function once<T>(compute: () => T): () => T {
  let computed: { value: T } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}

/** Whether a mail system sent a message, by its From field. */
export function isMachine(fields: readonly Field[]): boolean {
  const from = findField(fields, "from") ?? "";
  const [address] = findAddresses(from, 1);
  return address === undefined || MACHINE.test(address.replace(/^["\\]{1,2}/, ""));
}

const isOfThread = (fields: readonly Field[]): boolean =>
  fields.some(({ name }) => name === "in-reply-to" || name === "list-post" || name === "list-id");

const listAddresses = (fields: readonly Field[], name: string, limit: number): string[] =>
  findFields(fields, name).flatMap((value) => findAddresses(value, limit));

const classOf = (text: string): string => classifyReply({ code: null, enhanced: null, text }, true).class;

/** Classes of a text that names no reason. */
const UNCLEAR: ReadonlySet<string> = new Set(["other", "soft", "protocol"]);

/**
 * The reason in a notice: a quoted reply, else the first paragraph that names one, else the first paragraph
 * after the address, or the whole notice.
 */
function findReason(notice: Notice): Reply {
  const at = notice.lines.findIndex((line) => REPLY_LINE.test(line));
  const paragraphs = paragraphsOf(at === -1 ? notice : { ...notice, lines: notice.lines.slice(at) });
  const whole = parseDiagnostic(paragraphs.join(" "), null);
  if (whole.code !== null) return whole;
  const reason = [...paragraphs.slice(0, paragraphsMax), notice.subject].find(
    (text) => !UNCLEAR.has(classOf(text)),
  );
  const text = reason ?? (notice.subject === "" ? paragraphs[0] : undefined);
  return text === undefined ? whole : { ...parseDiagnostic(text, null), enhanced: whole.enhanced };
}
