import { type Mailbox, parseMailbox } from "#server/mail/address";
import type { Draft } from "#server/mail/compose";

/** A mailbox from its text; a wrong one fails the test. */
export function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.fault}`);
  return parsed.mailbox;
}

/** A complete draft of which a test states only what matters. */
export function draft(overrides: Partial<Draft> = {}): Draft {
  return {
    from: mailbox("Shop <shop@example.com>"),
    to: [mailbox("ann@example.org")],
    cc: [],
    replyTo: [],
    subject: "Hello",
    html: "<p>Hello</p>",
    text: "Hello",
    headers: [],
    messageId: "<1@example.com>",
    date: new Date("2025-02-03T04:05:06Z"),
    boundarySeed: "seed",
    ...overrides,
  };
}
