import type { Reply } from "../outcome";

/** What a server says it did for a recipient (RFC 3464 section 2.3.3). Only `failed` is a bounce. */
export const ACTIONS = ["failed", "delayed", "delivered", "relayed", "expanded"] as const;
export type Action = (typeof ACTIONS)[number];

/** What is reported of one recipient. */
export type Reported = {
  action: Action;
  /** Under which addresses, the one that we wrote to first; empty where the report names none. */
  recipients: string[];
  /** What the last server said; code, enhanced code and text each as far as they were told. */
  reply: Reply;
  /** The server that said so. */
  host: string | null;
};

/** How the mail that a report is about can be found, as far as the report tells. All of it is the word of a stranger. */
export type About = {
  /** Addresses that the report came to, or that the mail went out under: one of them may hold our token. */
  returnPaths: string[];
  /** Links to unsubscribe that stood in the mail. */
  unsubscribeLinks: string[];
  /** Without angle brackets. */
  messageId: string | null;
};

/** What a message that came back is. `id` is the same whenever the same message is read. */
export type Report =
  | { kind: "delivery"; id: string; about: About; reported: Reported[] }
  | { kind: "complaint"; id: string; about: About; feedbackType: string; recipients: string[] }
  /** A machine's answer for a person, such as a note of absence. */
  | { kind: "auto-reply" }
  | { kind: "other" };
