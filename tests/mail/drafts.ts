import { type Mailbox, parseMailbox } from "#server/mail/address/address";
import type { Draft } from "#server/mail/mime/compose";
import { createConvertToText } from "#server/mail/mime/html-text";
import { silentLog } from "#server/platform/log";
import { createThreads } from "#server/platform/threads";

/** Parses a mailbox; an invalid one fails the test. */
export function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.fault}`);
  return parsed.mailbox;
}

const convertToText = createConvertToText({ log: silentLog, threads: createThreads() });

/** The text part of a message with these bodies. */
export const textOf = async ({ html, text }: { html: string | null; text: string | null }): Promise<string> =>
  text ?? convertToText("team", html ?? "");

/** A complete draft; a test sets only the relevant fields. */
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
