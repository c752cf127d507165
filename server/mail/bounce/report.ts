import type { HeaderSignature } from "../dkim/verify";
import type { Reply } from "../outcome";

/** The action that a server reports for a recipient (RFC 3464 section 2.3.3). Only `failed` is a bounce. */
export const ACTIONS = ["failed", "delayed", "delivered", "relayed", "expanded"] as const;
export type Action = (typeof ACTIONS)[number];

/** The reported status of one recipient. */
export type Reported = {
  action: Action;
  /** The recipient's addresses, the one that we sent to first; empty if the report names none. */
  recipients: string[];
  /** The reply of the last server; parts that the report omits are null or empty. */
  reply: Reply;
  /** The server that sent the reply. */
  host: string | null;
};

/** Data that identifies the email of a report. All of it is untrusted input. */
export type About = {
  /**
   * Addresses that received the report, and envelope senders of the email: one of them may contain our token.
   */
  returnPaths: string[];
  /** The Feedback-ID of the email: its first part may be our token. */
  feedbackId: string | null;
  /** Unsubscribe links of the email. */
  unsubscribeLinks: string[];
  /** Without angle brackets. */
  messageId: string | null;
};

/** A classified incoming message. `id` is stable: the same message always has the same id. */
export type Report =
  | { kind: "delivery"; id: string; about: About; reported: Reported[] }
  | {
      kind: "complaint";
      id: string;
      about: About;
      feedbackType: string;
      recipients: string[];
      /** The signatures of the returned email's header. */
      signatures: HeaderSignature[];
    }
  /** An automatic response on behalf of a person, such as an out-of-office reply. */
  | { kind: "auto-reply"; about: About }
  | { kind: "other" };
