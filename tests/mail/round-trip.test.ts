import PostalMime, { type Address } from "postal-mime";
import { beforeAll, describe, expect, test } from "vitest";
import { composeMessage } from "#server/mail/mime/compose";
import { createRelay } from "#server/mail/transport/relay";
import { findPostfixSink, startPostfixSink } from "../support/servers/smtp-sink";
import { startMailSink } from "../support/servers/smtp-test-server";
import { draft, mailbox, textOf } from "./drafts";
import { type Newsletter, renderNewsletters } from "./newsletters";
import { targetOf, watch } from "./relay-world";

/** Sends bytes to a server and returns what it received. */
type Far = { host: string; port: number; received(): Promise<Buffer>; close(): Promise<void> };

let newsletters: Newsletter[] = [];

beforeAll(async () => {
  newsletters = await renderNewsletters();
});

const TITLES = [
  "German and French, many recipients",
  "Greek and Cyrillic, 900 characters of subject",
  "Arabic, right to left",
  "Hebrew with Latin inside",
  "Devanagari and Thai",
  "Chinese, Japanese and Korean",
  "Emoji in sequences, marks on marks",
];

async function startOrdinary(): Promise<Far> {
  const sink = await startMailSink();
  const received = async () => sink.messages[0]?.bytes ?? Buffer.alloc(0);
  return { host: sink.host, port: sink.port, received, close: sink.close };
}

async function startPostfix(binary: string): Promise<Far> {
  const sink = await startPostfixSink(binary);
  const received = async () => {
    await expect.poll(() => sink.messages().length, { timeout: 10_000 }).toBe(1);
    return sink.messages()[0] ?? Buffer.alloc(0);
  };
  return { host: sink.host, port: sink.port, received, close: sink.close };
}

const postfix = findPostfixSink();
const servers: [name: string, start: () => Promise<Far>, titles: string[]][] = [
  ["smtp-server", startOrdinary, TITLES],
];
if (postfix === null)
  process.stdout.write(
    "NOT RUN: Postfix's smtp-sink is not on this machine; its round trips are left out.\n",
  );
else servers.push(["Postfix's smtp-sink", () => startPostfix(postfix), TITLES.slice(-2)]);

describe.each(servers)("a newsletter is received unchanged through %s", (_name, start, titles) => {
  test.each(titles)("%s", async (title) => {
    const newsletter = newsletters.find((candidate) => candidate.title === title);
    if (newsletter === undefined) throw new Error(`No newsletter is called ${title}`);
    const { subject, html } = newsletter;
    const text = await textOf(newsletter);
    const from = mailbox(newsletter.from);
    const to = newsletter.to.map(mailbox);
    const cc = newsletter.cc.map(mailbox);
    const replyTo = [mailbox('"Antworten, bitte: hierher" <reply@example.com>')];
    const bytes = composeMessage(draft({ from, to, cc, replyTo, subject, html, text, boundarySeed: title }));

    const far = await start();
    const relay = createRelay(targetOf(`smtp://${far.host}:${far.port}`));
    const recipients = [...to, ...cc];
    const outgoing = { id: title, returnPath: "bounce@example.com", bytes, smtpUtf8: false };
    const outcomes = await relay.deliver(outgoing, recipients, watch());
    expect(outcomes.map(({ kind }) => kind)).toEqual(recipients.map(() => "accepted"));
    const received = await far.received();
    await relay.close();
    await far.close();

    const parsed = await PostalMime.parse(received);
    expect(parsed.subject).toBe(subject);
    expect(parsed.messageId).toBe("<1@example.com>");
    expect(parsed.date).toBe("2025-02-03T04:05:06.000Z");
    expect([parsed.from].flatMap(person)).toEqual([{ name: from.name ?? "", address: from.address }]);
    expect(parsed.to?.flatMap(person)).toEqual(
      to.map(({ name, address }) => ({ name: name ?? "", address })),
    );
    expect(parsed.cc?.flatMap(person) ?? []).toEqual(
      cc.map(({ name, address }) => ({ name: name ?? "", address })),
    );
    expect(parsed.replyTo?.flatMap(person)).toEqual(
      replyTo.map(({ name, address }) => ({ name: name ?? "", address })),
    );
    expect(lines(parsed.html)).toBe(lines(html));
    if (text !== null) expect(lines(parsed.text)).toBe(lines(text));
    else for (const word of wordsOf(newsletter)) expect(parsed.text).toContain(word);
    expect(parsed.attachments).toEqual([]);
  });
});

/** Parsers return other line ends than the original, and the format adds one at the end. */
function lines(text: string | undefined): string {
  return (text ?? "").replace(/\r\n/g, "\n").replace(/\n$/, "");
}

function person(address: Address | undefined): { name: string; address: string | undefined }[] {
  return address === undefined ? [] : [{ name: address.name, address: address.address }];
}

/** Words that the generated text must contain: those of the buttons. */
function wordsOf({ html }: Newsletter): string[] {
  const buttons = [...html.matchAll(/<a href="[^"]*"[^>]*>\s*([^<]+?)\s*<\/a>/g)].map(
    (match) => match[1] ?? "",
  );
  return buttons.flatMap((label) => label.split(/\s+/)).filter((word) => word !== "" && !word.includes("&"));
}
