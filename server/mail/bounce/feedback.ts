import { type Field, findAddresses, findField, findFields, parseFields } from "./fields";
import { decodeText, decodeValue, listParts, type Part } from "./mime";

export type Feedback = {
  /** In lower case, such as `abuse`; `other` for an unknown type. */
  type: string;
  /** The recipients of the email, unless the report redacts them. */
  recipients: string[];
  /** The envelope senders that the report names. */
  returnPaths: string[];
};

/** Types that report a recipient's complaint. */
const COMPLAINT = /^(abuse|fraud|opt-out|opt-out-list)$/;

/**
 * Whether feedback of this type is a complaint. Recipients do not cause reports about authentication failures
 * or viruses.
 */
export const isComplaint = (type: string): boolean => COMPLAINT.test(type);

/**
 * The registered types, obsolete ones that are still in use (RFC 5965 sections 3.1 and 7.3), and words that
 * programs use for them. The first that matches counts.
 */
const TYPES: readonly (readonly [words: RegExp, type: string])[] = [
  [/^not-?(?:spam|abuse|junk)/, "not-spam"],
  [/auth|dmarc/, "auth-failure"],
  [/virus|malware/, "virus"],
  [/^opt-out-list/, "opt-out-list"],
  [/opt-?out|unsubscribe/, "opt-out"],
  [/fraud|phish/, "fraud"],
  [/abuse|spam|junk|complaint/, "abuse"],
];
const typeOf = (text: string): string =>
  TYPES.find(([words]) => words.test(text.toLowerCase()))?.[1] ?? "other";

/** Fields of which a report has at least one besides its type. */
const REPORT_FIELDS = new Set(
  "user-agent version source-ip original-mail-from original-rcpt-to original-envelope-id arrival-date received-date reported-domain removal-recipient abuse-type".split(
    " ",
  ),
);
/** Microsoft's program (JMRP) has no report: it adds this field to the returned email. */
const JMRP_RECIPIENT = "x-hmxmroriginalrecipient";

/** Whether the message is the returned email itself, which that program can send instead of an attachment. */
export const isReturnedCopy = ({ fields }: Part): boolean => findField(fields, JMRP_RECIPIENT) !== null;

/** How complaints for people begin. They count only with the returned email: a person can write the same. */
const TEXT = /^this is an? /i;
const SUBJECT = /^(?:complaint about message from|e-?mail feedback report for) /i;

/**
 * Reads a feedback report (RFC 5965), also one without required fields or without the part for them, and
 * complaints of programs with a form of their own. `returned`: the header of the returned email. Null if the
 * message is none of these.
 */
export function parseFeedback(message: Part, returned: readonly Field[]): Feedback | null {
  const parts = [...listParts(message)];
  const fields = findReportFields(parts);
  const type = findType(message, parts, fields, returned);
  if (type === null) return null;
  const recipients = ["original-rcpt-to", "removal-recipient"].flatMap((name) =>
    findFields(fields ?? [], name),
  );
  return {
    type,
    recipients: [...recipients, ...findFields(returned, JMRP_RECIPIENT)].flatMap((value) =>
      findAddresses(value, 20),
    ),
    returnPaths: findFields(fields ?? [], "original-mail-from").flatMap((value) => findAddresses(value, 1)),
  };
}

/** The fields of the report: in the part that is meant for them, else at the start of a text. */
function findReportFields(parts: readonly Part[]): Field[] | null {
  const read = (part: Part) => parseFields(decodeText(part).replace(/^\n+/, "").split("\n\n", 1)[0] ?? "");
  const own = parts.find(({ type }) => type === "message/feedback-report");
  if (own) return read(own);
  const texts = parts.filter((part) => part.parts.length === 0 && part.type.startsWith("text/"));
  const isReport = (fields: readonly Field[]) =>
    findField(fields, "feedback-type") !== null && fields.some(({ name }) => REPORT_FIELDS.has(name));
  const isFirst = (part: Part) => /^\s*[a-z-]{1,40}: ?\S/i.test(decodeText(part, 1_000));
  return texts.filter(isFirst).map(read).find(isReport) ?? null;
}

function findType(
  message: Part,
  parts: readonly Part[],
  fields: readonly Field[] | null,
  returned: readonly Field[],
): string | null {
  const stated = findField(fields ?? [], "feedback-type");
  if (stated !== null) return typeOf(stated);
  // Mail programs send this to unsubscribe by email.
  if (findField(message.fields, "x-apple-unsubscribe")?.toLowerCase() === "true") return "opt-out";
  const words = decodeText(parts.find(({ type }) => type === "text/plain") ?? message, 300).trim();
  const subject = decodeValue(findField(message.fields, "subject") ?? "");
  const isReport = fields !== null || message.params.get("report-type")?.toLowerCase() === "feedback-report";
  if (isReport)
    return findField(fields ?? [], "auth-failure") ? "auth-failure" : (typeInWords(words) ?? "abuse");
  if (returned.length === 0 || parts.some(({ type: each }) => each.endsWith("delivery-status"))) return null;
  if (findField(returned, JMRP_RECIPIENT) !== null) return "abuse";
  const isStated = SUBJECT.test(subject.trim()) || (TEXT.test(words) && typeInWords(words) !== null);
  return isStated ? (typeInWords(words) ?? "abuse") : null;
}

/** The type in the first words of a report for people, such as `This is an opt-out report for`; else null. */
function typeInWords(words: string): string | null {
  const type = typeOf(/^[^.]{0,100}?\breport\b/i.exec(words)?.[0] ?? "");
  return type === "other" ? null : type;
}
