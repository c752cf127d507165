import { findAddresses, findField, findFields, parseFields } from "./fields";
import { decodeText, listParts, type Part } from "./mime";

export type Feedback = {
  /** In lower case, such as `abuse`; `other` for an unknown type. */
  type: string;
  /** The recipients of the email, unless the report redacts them. */
  recipients: string[];
  /** The envelope senders that the report names. */
  returnPaths: string[];
};

/** The registered types, and obsolete ones that are still in use (RFC 5965 sections 3.1 and 7.3). */
const TYPE = /^(abuse|auth-failure|fraud|not-spam|opt-out|opt-out-list|other|virus)$/;

/** Types that report a recipient's complaint. */
const COMPLAINT = /^(abuse|fraud|opt-out|opt-out-list)$/;

/**
 * Whether feedback of this type is a complaint. Recipients do not cause reports about authentication failures
 * or viruses.
 */
export const isComplaint = (type: string): boolean => COMPLAINT.test(type);

/** Reads a feedback report (RFC 5965); null if the message is not one or lacks a required field. */
export function parseFeedback(message: Part): Feedback | null {
  const part = [...listParts(message)].find(({ type }) => type === "message/feedback-report");
  if (!part) return null;
  const fields = parseFields(decodeText(part).replace(/^\n+/, ""));
  const type = findField(fields, "feedback-type")?.toLowerCase() ?? null;
  if (type === null || findField(fields, "user-agent") === null || findField(fields, "version") === null)
    return null;
  return {
    type: TYPE.test(type) ? type : "other",
    recipients: findFields(fields, "original-rcpt-to").flatMap((value) => findAddresses(value, 20)),
    returnPaths: findFields(fields, "original-mail-from").flatMap((value) => findAddresses(value, 1)),
  };
}
