import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { dryRunBatch } from "#server/services/emails/accept/dry-run";
import { fetchedFilesMax, ScheduledAt } from "#server/services/emails/accept/message-input";
import { batchMax, sendBatch } from "#server/services/emails/accept/send";
import { cancelEmail, rescheduleEmail, SETTLINGS, settleEmail } from "#server/services/emails/change/change";
import {
  type RetryAnswer,
  retriedEmailsMax,
  retryEmail,
  retryEmails,
} from "#server/services/emails/change/retry";
import { EMAIL_FILTER } from "#server/services/emails/read/filter";
import { optional } from "#server/services/fields";
import { changed, Id, presentChanged } from "#server/shared/wire/shapes";
import { withApi } from "../pipeline/route";
import { validate } from "../pipeline/validate";
import { BatchDryRunResponse, dryRun, presentDryRun } from "./dry-run";
import { isDryRunQuery, SendEmailBody, SendQuery } from "./send-email";

/** Description of every route that changes one email. */
const LINKED_DOMAINS_ONLY =
  "A key linked to specific domains can change only email sent from them; for any other email of the team the response is 403.";

const Items = z
  .array(z.unknown(), "Must be an array of emails.")
  .min(1, "Send 1 to 100 emails.")
  .max(batchMax, `At most ${batchMax} emails per batch. Send the rest in another batch.`);

/** Resend's validation mode. It is a header because the body is an array of emails. */
const Mode = z.enum(
  ["strict", "permissive"],
  "The header `x-batch-validation` must be strict or permissive.",
);

/** The emails of a batch, each or its validation error. All of them share the limit of fetched files. */
function readItems(items: readonly unknown[]) {
  let fetched = 0;
  return items.map((item) => {
    try {
      const email = validate(SendEmailBody, item, "body");
      fetched += email.attachments.filter(({ source }) => "url" in source).length;
      if (fetched <= fetchedFilesMax) return email;
      return new AppError(
        "invalid_attachment",
        `At most ${fetchedFilesMax} files by \`path\` in a batch. Send the others as \`content\`.`,
      );
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  });
}

const RetryResponse = z.object({
  count: z.int().describe("Number of recipients that are retried."),
  data: z
    .array(z.object({ id: Id, recipients: z.array(z.string()) }))
    .describe("The retried recipients by email."),
  has_more: z.boolean(),
});

/** The number of requeued deliveries, and their recipients grouped by email. */
function presentRetry({ retried, hasMore }: RetryAnswer): z.infer<typeof RetryResponse> {
  const byEmail = new Map<string, string[]>();
  for (const { emailId, address } of retried)
    byEmail.set(emailId, [...(byEmail.get(emailId) ?? []), address]);
  return {
    count: retried.length,
    data: [...byEmail].map(([id, recipients]) => ({ id, recipients })),
    has_more: hasMore,
  };
}

const acceptDuplicates = optional(z.boolean("Must be true or false.")).describe(
  "Whether to retry recipients with an unknown outcome too. They may receive the email twice. Default: false.",
);

export const emailChangeRoutes = [
  withApi({
    route: "POST /api/emails/batch",
    access: { scope: "emails:send" },
    summary: "Send up to 100 emails in one batch",
    status: 200,
    body: Items,
    bodyShape: z.array(SendEmailBody).min(1).max(batchMax),
    headers: {
      "x-batch-validation": Mode.optional().describe(
        "`strict`: one invalid email rejects the batch. `permissive`: valid emails are sent, and `errors` lists the others. Default: `strict`.",
      ),
    },
    example: {
      body: [
        {
          from: "Backstamp <hello@backstamp.test>",
          to: "delivered+ann@backstamp.test",
          subject: "For Ann",
          html: "<p>Hello Ann</p>",
        },
        {
          from: "Backstamp <hello@backstamp.test>",
          to: "delivered+ben@backstamp.test",
          subject: "For Ben",
          html: "<p>Hello Ben</p>",
        },
      ],
      headers: { "x-batch-validation": "permissive" },
    },
    query: SendQuery,
    isDryRun: isDryRunQuery,
    ifTooLarge: "Send fewer emails per batch.",
    response: z.union([
      z.object({
        data: z.array(z.object({ id: Id })).describe("The accepted emails, in the order of the request."),
        errors: z
          .array(z.object({ index: z.int(), message: z.string() }))
          .describe("The rejected emails; empty unless the mode is permissive."),
      }),
      BatchDryRunResponse,
    ]),
    errors: ["forbidden", "not_found", "invalid_sender"],
    bodyForm: "array",
    idempotent: true,
    handle: async ({ ctx, body, query, once, header, verdict }) => {
      const mode = validate(Mode, header("x-batch-validation") ?? "strict", "body");
      if (!isDryRunQuery(query)) return sendBatch(ctx, readItems(body), mode, once);
      const predict = async () => {
        const { runs, errors } = await dryRunBatch(ctx, readItems(body), mode);
        return { data: runs.map((run) => ({ index: run.index, ...presentDryRun(run) })), errors };
      };
      return dryRun(ctx, { tier: "other", once, verdict }, predict);
    },
  }),
  withApi({
    route: "PATCH /api/emails/{id}",
    access: { scope: "emails:send" },
    summary: "Reschedule a scheduled email",
    description: LINKED_DOMAINS_ONLY,
    body: z.strictObject({
      scheduled_at: ScheduledAt.describe(
        "The new time: ISO 8601 with a time zone, or a phrase such as `in 2 hours`.",
      ),
    }),
    repeatsId: ["id", "email_id"],
    example: { body: { scheduled_at: "in 2 hours" } },
    response: changed("email"),
    errors: ["conflict"],
    handle: async ({ ctx, params, body }) =>
      presentChanged("email", await rescheduleEmail(ctx, params.id, body.scheduled_at)),
  }),
  withApi({
    route: "POST /api/emails/{id}/cancel",
    access: { scope: "emails:send" },
    summary: "Cancel a scheduled email",
    description: LINKED_DOMAINS_ONLY,
    response: changed("email"),
    errors: ["conflict"],
    handle: async ({ ctx, params }) => presentChanged("email", await cancelEmail(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/emails/{id}/retry",
    access: { scope: "emails:send" },
    summary: "Retry an email for its failed recipients",
    description: LINKED_DOMAINS_ONLY,
    body: z.strictObject({ accept_duplicates: acceptDuplicates }),
    bodyForm: "optional",
    example: { body: { accept_duplicates: false } },
    response: changed("email").extend(RetryResponse.shape),
    errors: ["conflict"],
    handle: async ({ ctx, params, body }) => ({
      ...presentChanged("email", params),
      ...presentRetry(await retryEmail(ctx, params.id, body.accept_duplicates ?? false)),
    }),
  }),
  withApi({
    route: "POST /api/emails/retry",
    access: { scope: "emails:send" },
    summary: `Retry all emails that match a filter, up to ${retriedEmailsMax} per call`,
    description:
      'At least one filter is required. Emails that bounced are retried only with `status: "bounced"`. A key linked to specific domains retries only email sent from them; a filter for another `domain` is rejected with 403.',
    body: z.strictObject({ ...EMAIL_FILTER, accept_duplicates: acceptDuplicates }),
    example: { body: { status: "failed", since: "2026-01-01T00:00:00Z" } },
    response: z.object({ object: z.literal("retry"), ...RetryResponse.shape }),
    errors: ["conflict"],
    handle: async ({ ctx, body: { accept_duplicates, ...filter } }) => ({
      object: "retry" as const,
      ...presentRetry(await retryEmails(ctx, filter, accept_duplicates ?? false)),
    }),
  }),
  withApi({
    route: "POST /api/emails/{id}/settle",
    access: { scope: "emails:send" },
    summary: "Settle recipients with an unknown outcome",
    description: LINKED_DOMAINS_ONLY,
    body: z.strictObject({
      as: z
        .enum(SETTLINGS, "Must be retry, sent or failed.")
        .describe(
          "`retry` sends it again, which may create a duplicate. `sent` and `failed` do not: `sent` may lose the email, and a `failed` one may have been delivered.",
        ),
      recipients: z
        .array(z.string("Must be an address."), "Must be an array of addresses.")
        .min(1, "List at least one address, or omit the field for all.")
        .max(50, "At most 50.")
        .optional()
        .describe("The recipients to settle. Default: all with an unknown outcome."),
    }),
    example: { body: { as: "sent" } },
    response: changed("email").extend({
      settled: z.array(z.string()).describe("The settled recipients."),
    }),
    errors: ["conflict"],
    handle: async ({ ctx, params, body: { as, recipients = null } }) => ({
      ...presentChanged("email", params),
      settled: await settleEmail(ctx, params.id, { as, recipients }),
    }),
  }),
];
