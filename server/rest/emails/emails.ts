import { z } from "zod";
import { dryRunEmail } from "#server/services/emails/accept/dry-run";
import { sendEmail } from "#server/services/emails/accept/send";
import { EMAIL_FILTER } from "#server/services/emails/read/filter";
import { emailScanMax, scanEmails } from "#server/services/emails/read/list";
import { getEmail } from "#server/services/emails/read/read";
import {
  EmailResponse,
  EmailSummaryResponse,
  presentEmail,
  presentEmailSummary,
} from "#server/shared/wire/email";
import { Id, listOf } from "#server/shared/wire/shapes";
import { listJson, listQuery } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { DryRunResponse, dryRun, presentDryRun } from "./dry-run";
import { AcceptedResponse, isDryRunQuery, SendEmailBody, SendQuery } from "./send-email";

export const emailRoutes = [
  /** 200, not 201 or 202: some Resend clients treat only 200 as success. */
  withApi({
    route: "POST /api/emails",
    access: { scope: "emails:send" },
    tier: "POST /api/emails",
    summary: "Send an email",
    status: 200,
    body: SendEmailBody,
    example: {
      body: {
        from: "Backstamp <hello@backstamp.test>",
        to: "delivered@backstamp.test",
        subject: "First email",
        html: "<p>It works.</p>",
        tags: [{ name: "kind", value: "welcome" }],
      },
      headers: { "idempotency-key": "order-10492-receipt" },
    },
    query: SendQuery,
    isDryRun: isDryRunQuery,
    ifTooLarge:
      "Reduce the attachments: an array of bytes takes 3.6 times the size of the file, Base64 1.3 times. Send `content` as Base64, or `path` with a URL from which the file is fetched.",
    response: z.union([AcceptedResponse, DryRunResponse]),
    errors: ["forbidden", "not_found", "invalid_sender", "invalid_attachment"],
    idempotent: true,
    handle: async ({ ctx, body, query, once, verdict }) =>
      isDryRunQuery(query)
        ? dryRun(ctx, { tier: "POST /api/emails", once, verdict }, async () =>
            presentDryRun(await dryRunEmail(ctx, body)),
          )
        : sendEmail(ctx, body, once),
  }),
  withApi({
    route: "GET /api/emails",
    access: { scope: "emails:read" },
    tier: "GET /api/emails",
    summary: "List emails, newest first",
    query: listQuery(EMAIL_FILTER),
    example: { query: { status: "delivered", limit: "20" } },
    response: listOf(EmailSummaryResponse).extend({
      searched_to: Id.optional().describe(
        `Present if the search ended before the page was full: one call searches ${emailScanMax.toLocaleString("en")} emails. To continue the search, send this value as \`after\`, or as \`before\` if the request had \`before\`.`,
      ),
    }),
    handle: async ({ ctx, query }) => {
      const { scannedTo, ...page } = await ctx.replica.run(ctx, (from) => scanEmails(from, query));
      const list = listJson(page, presentEmailSummary);
      return scannedTo === null ? list : { ...list, has_more: true, searched_to: scannedTo };
    },
  }),
  withApi({
    route: "GET /api/emails/{id}",
    access: { scope: "emails:read" },
    summary: "Get an email with its recipients and events",
    response: EmailResponse,
    handle: async ({ ctx, params }) => presentEmail(await getEmail(ctx, params.id)),
  }),
];
