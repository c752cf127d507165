import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "#db/client";
import { newId } from "#server/platform/ids";
import { insertSubmissions } from "#server/services/emails/accept/insert-submissions";
import { optionsOf } from "#server/services/emails/accept/send";
import { emailHtml, recipientOf, SENDER, SENDER_DOMAIN, subjectOf } from "./sample-email";

const perStatement = 100;

/** Queues emails like the accepting statement, each with one recipient and due now. */
export async function queueEmails(hot: HotSql, teamId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += perStatement) {
    const size = Math.min(perStatement, count - from);
    const emails = Array.from({ length: size }, (_, index) => {
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
        ...optionsOf({ headers: [], tags: [] }),
        templateId: null,
        templateVersionId: null,
        messageId: `${id}@${SENDER_DOMAIN}`,
        status: "queued" as const,
        html: emailHtml(n),
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
      emails.map((mail) => ({ emails: [mail] })),
    );
  }
}

/** Waits until every email has a recorded result. Throws if one of them was not sent, or after `maxMs`. */
export async function drained(hot: HotSql, maxMs: number): Promise<void> {
  await nothingDue(hot, maxMs, 25);
  const others = await hot`select status from deliveries where status <> 'sent' limit 1`;
  if (others.length > 0) throw new Error(`An email has the status ${others[0]?.status}.`);
}

/** Waits until no email is queued or being sent. Throws after `maxMs`. */
export async function nothingDue(hot: HotSql, maxMs: number, pollMs: number): Promise<void> {
  const untilMs = performance.now() + maxMs;
  for (;;) {
    const [open] = await hot<{ is: boolean }[]>`select exists (select from queue) as is`;
    if (!open?.is) return;
    if (performance.now() > untilMs) throw new Error("Not every email was delivered in time.");
    await wait(pollMs);
  }
}
