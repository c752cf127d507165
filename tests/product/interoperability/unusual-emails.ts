import { expect } from "vitest";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { renderNewsletters } from "../../mail/newsletters";
import type { TestEmail } from "../../support/world";

/** Emails with what a mail server could change: dots, blanks, long lines and header fields, other scripts. */
export async function composeUnusual(): Promise<TestEmail[]> {
  const html = [".", "..", "From here", "blanks at the end  ", "", "\tx".repeat(600), "<p>é</p>"].join("\n");
  const file = {
    source: { content: Buffer.from("PK\u0003\u0004\u0000") },
    contentType: null,
    contentId: null,
  };
  const emails = [
    ...(await renderNewsletters()).map(({ subject, html, text }) => ({ subject, html, text })),
    { html, text: html },
    { html: "x", text: "", attachments: [{ ...file, filename: "größer als alles.zip" }] },
    { html: null, text: ".", headers: [{ name: "X-Own", value: "a ".repeat(400).trim() }] },
  ];
  return emails.map((email) => ({ replyTo: [], listUnsubscribe: true, ...email }));
}

export const latin1 = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("latin1");

/** SMTP adds a missing line end. */
export const wireText = ({ bytes }: OutgoingMessage): string => latin1(bytes).replace(/(?<!\r\n)$/, "\r\n");

export const messageIdOf = (text: string): string => /^Message-ID: (.*)\r$/im.exec(text)?.[1] ?? "";

/** The names of the header fields that servers added in front of ours. Fails if anything else was changed. */
export function addedTo(own: string, arrived: string | undefined): string[] {
  expect(arrived?.slice(-own.length)).toBe(own);
  const added = arrived?.slice(0, -own.length).split(/\r\n(?![ \t])/) ?? [];
  return [
    ...new Set(added.filter((field) => field !== "").map((field) => field.slice(0, field.indexOf(":")))),
  ];
}
