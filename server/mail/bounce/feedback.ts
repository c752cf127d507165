import { addressesIn, fieldOf, fieldsOf, readFields } from "./fields";
import { allParts, type Part, textOf } from "./mime";

export type Feedback = {
  /** In lower case, such as `abuse`; `other` where the report names none that is known. */
  type: string;
  /** To whom the mail went, where the report does not hide it. */
  recipients: string[];
  /** The envelope senders that it names. */
  returnPaths: string[];
};

/** The registered types, and those that are still sent though they are obsolete (RFC 5965 sections 3.1 and 7.3). */
const TYPES: ReadonlySet<string> = new Set([
  "abuse",
  "auth-failure",
  "fraud",
  "not-spam",
  "opt-out",
  "opt-out-list",
  "other",
  "virus",
]);

/** With which a person says that they do not want the mail. */
const COMPLAINTS: ReadonlySet<string> = new Set(["abuse", "fraud", "opt-out", "opt-out-list"]);

/** Whether feedback of this type is a complaint. Reports on failed authentication or on viruses are not its reader's doing. */
export const isComplaint = (type: string): boolean => COMPLAINTS.has(type);

/** What a feedback report says (RFC 5965); null where the message is none, or lacks what one must have. */
export function readFeedback(message: Part): Feedback | null {
  const part = [...allParts(message)].find(({ type }) => type === "message/feedback-report");
  if (!part) return null;
  const fields = readFields(textOf(part).replace(/^\n+/, ""));
  const type = fieldOf(fields, "feedback-type")?.toLowerCase() ?? null;
  if (type === null || fieldOf(fields, "user-agent") === null || fieldOf(fields, "version") === null)
    return null;
  return {
    type: TYPES.has(type) ? type : "other",
    recipients: fieldsOf(fields, "original-rcpt-to").flatMap((value) => addressesIn(value, 20)),
    returnPaths: fieldsOf(fields, "original-mail-from").flatMap((value) => addressesIn(value, 1)),
  };
}
