import { setTimeout as wait } from "node:timers/promises";
import { insertSubmissions } from "#db/accept";
import type { HotSql } from "#db/client";
import { newId } from "#server/ids";
import { letterHtml, recipientOf, SENDER, SENDER_DOMAIN, subjectOf } from "./letter";

const perStatement = 100;
const lookEveryMs = 25;

/** Puts mails into the queue as the accepting statement writes them, each with one recipient and due at once. */
export async function queueMails(hot: HotSql, teamId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += perStatement) {
    const size = Math.min(perStatement, count - from);
    const mails = Array.from({ length: size }, (_, index) => {
      const n = from + index;
      const id = newId();
      const address = recipientOf(n);
      return {
        id,
        teamId,
        apiKeyId: null,
        sender: SENDER,
        senderAddress: "ann@bench.example",
        senderDomain: SENDER_DOMAIN,
        to: [address],
        cc: [],
        bcc: [],
        replyTo: [],
        subject: subjectOf(n),
        tags: [],
        headers: [],
        listUnsubscribe: false,
        templateId: null,
        templateVersionId: null,
        messageId: `${id}@${SENDER_DOMAIN}`,
        status: "queued" as const,
        html: letterHtml(n),
        text: "Your order is on its way.",
        scheduledAt: null,
        attachments: [],
        eventId: newId(),
        recipients: [
          {
            id: newId(),
            kind: "to" as const,
            address,
            domain: "customers.example",
            status: "queued" as const,
          },
        ],
      };
    });
    await insertSubmissions(
      hot,
      mails.map((mail) => ({ mails: [mail] })),
    );
  }
}

/** Waits until every mail has its result on record; throws when one of them was not sent, or after `maxMs`. */
export async function drained(hot: HotSql, maxMs: number): Promise<void> {
  const untilMs = performance.now() + maxMs;
  for (;;) {
    // Each look reads one entry of a small index: the wait must not be part of what is measured.
    const [open] = await hot<{ is: boolean }[]>`
      select exists (select from deliveries where status = 'queued')
          or exists (select from deliveries where status = 'sending') as is`;
    if (!open?.is) break;
    if (performance.now() > untilMs) throw new Error("Not every mail was delivered in time.");
    await wait(lookEveryMs);
  }
  const others = await hot`select status from deliveries where status <> 'sent' limit 1`;
  if (others.length > 0) throw new Error(`A mail came to be ${others[0]?.status}.`);
}
