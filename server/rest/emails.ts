import { z } from "zod";
import { listEmails } from "#server/services/emails/list";
import { getEmail } from "#server/services/emails/read";
import { sendEmail } from "#server/services/emails/send";
import { dryRunOne } from "./dry-run";
import { listJson } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { DryRunAnswer } from "./wire/dry-run";
import { EmailAnswer, EmailSummaryAnswer, emailJson, emailSummaryJson } from "./wire/email";
import { EmailListQuery } from "./wire/email-query";
import { AcceptedAnswer, asksOnly, SendEmailBody, SendQuery } from "./wire/send-email";
import { listOf } from "./wire/shapes";

/** 200 and not 201 or 202: clients of the dialect take nothing else for success here. */
export const postEmail = withApi(
  {
    method: "POST",
    path: "/api/emails",
    access: { scope: "emails:send" },
    tier: "POST /api/emails",
    summary: "Accept a mail for delivery",
    status: 200,
    body: SendEmailBody,
    example: {
      body: {
        from: "Posthorn <hello@posthorn.test>",
        to: "delivered@posthorn.test",
        subject: "First mail",
        html: "<p>It works.</p>",
        tags: [{ name: "kind", value: "welcome" }],
      },
      headers: { "idempotency-key": "order-10492-receipt" },
    },
    query: SendQuery,
    isDryRun: asksOnly,
    ifTooLarge:
      "The files weigh most: a list of byte values costs 3.6 times their bytes and base64 1.3 times, so give `content` as base64, or give `path` with a URL and the file is fetched.",
    answer: z.union([AcceptedAnswer, DryRunAnswer]),
    errors: ["forbidden", "not_found", "invalid_sender", "invalid_attachment"],
    idempotent: true,
  },
  async ({ ctx, body, query, once, verdict }) => ({
    body: asksOnly(query) ? await dryRunOne(ctx, body, once, verdict) : await sendEmail(ctx, body, once),
  }),
);

export const getEmails = withApi(
  {
    method: "GET",
    path: "/api/emails",
    access: { scope: "emails:read" },
    tier: "GET /api/emails",
    summary: "List mails, newest first",
    query: EmailListQuery,
    example: { query: { status: "delivered", limit: "20" } },
    answer: listOf(EmailSummaryAnswer),
  },
  async ({ ctx, query }) => {
    const { rows, hasMore } = await listEmails(ctx, query);
    return { body: listJson(rows.map(emailSummaryJson), hasMore) };
  },
);

export const getOneEmail = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "Show a mail, its recipients and what happened to it",
    answer: EmailAnswer,
  },
  async ({ ctx, params }) => ({ body: emailJson(await getEmail(ctx, requireId(params, "id"))) }),
);
