import { z } from "zod";
import { AppError } from "#server/errors";
import { batchMax, sendBatch } from "#server/services/emails/batch";
import { cancelEmail, rescheduleEmail } from "#server/services/emails/change";
import { optional, ScheduledAt } from "#server/services/emails/message-input";
import { retriedEmailsMax, retryEmail, retryEmails } from "#server/services/emails/retry";
import { dryRunMany } from "./dry-run";
import { withApi } from "./route";
import { requireId, validate } from "./validate";
import { BatchDryRunAnswer } from "./wire/dry-run";
import { EMAIL_FILTER, emailFilterOf } from "./wire/email-query";
import { RetryAnswer, retryJson } from "./wire/retry";
import { asksOnly, SendEmailBody, SendQuery } from "./wire/send-email";
import { changed, Id } from "./wire/shapes";

const Items = z
  .array(z.unknown(), "Must be an array of mails.")
  .min(1, "Give 1 to 100 mails.")
  .max(batchMax, `At most ${batchMax} mails in one batch. Send the rest in another.`);

/** The dialect's switch, a header, because the body is the bare array of mails. */
const Mode = z.enum(
  ["strict", "permissive"],
  "The header `x-batch-validation` must be strict or permissive.",
);

export const postBatch = withApi(
  {
    method: "POST",
    path: "/api/emails/batch",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Accept up to 100 mails at once",
    status: 200,
    body: Items,
    bodyShape: z.array(SendEmailBody).min(1).max(batchMax),
    headers: { "x-batch-validation": Mode.optional() },
    example: {
      body: [
        {
          from: "Posthorn <hello@posthorn.test>",
          to: "delivered+ann@posthorn.test",
          subject: "For Ann",
          html: "<p>Hello Ann</p>",
        },
        {
          from: "Posthorn <hello@posthorn.test>",
          to: "delivered+ben@posthorn.test",
          subject: "For Ben",
          html: "<p>Hello Ben</p>",
        },
      ],
      headers: { "x-batch-validation": "permissive" },
    },
    query: SendQuery,
    isDryRun: asksOnly,
    ifTooLarge: "Send fewer mails in one batch.",
    answer: z.union([
      z.object({
        data: z.array(z.object({ id: Id })).describe("The accepted mails, in their order."),
        errors: z
          .array(z.object({ index: z.int(), message: z.string() }))
          .describe("The others, in permissive mode."),
      }),
      BatchDryRunAnswer,
    ]),
    errors: ["forbidden", "not_found", "invalid_sender"],
    bodyForm: "array",
    idempotent: true,
  },
  async ({ ctx, body, query, once, header, verdict }) => {
    const mode = validate(Mode, header("x-batch-validation") ?? "strict", "body");
    const items = () => body.map(readItem);
    if (asksOnly(query)) return { body: await dryRunMany(ctx, { items, mode }, once, verdict) };
    const { data, errors } = await sendBatch(ctx, items(), mode, once);
    return { body: { data, errors } };
  },
);

/** One mail of a batch, or what is wrong with it. */
function readItem(item: unknown) {
  try {
    const mail = validate(SendEmailBody, item, "body");
    if (mail.attachments.length > 0)
      return new AppError("invalid", "Attachments are not possible in a batch. Send that mail by itself.");
    return mail;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

export const patchEmail = withApi(
  {
    method: "PATCH",
    path: "/api/emails/{id}",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Move a scheduled mail to another time",
    body: z.strictObject({ scheduled_at: ScheduledAt }),
    repeatsId: ["id", "email_id"],
    example: { body: { scheduled_at: "in 2 hours" } },
    answer: changed("email"),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const { id } = await rescheduleEmail(ctx, requireId(params, "id"), body.scheduled_at);
    return { body: { object: "email", id } } as const;
  },
);

export const postEmailCancel = withApi(
  {
    method: "POST",
    path: "/api/emails/{id}/cancel",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Call a scheduled mail off",
    answer: changed("email"),
    errors: ["conflict"],
  },
  async ({ ctx, params }) => {
    const { id } = await cancelEmail(ctx, requireId(params, "id"));
    return { body: { object: "email", id } } as const;
  },
);

const acceptDuplicates = optional(z.boolean("Must be true or false."));

export const postEmailRetry = withApi(
  {
    method: "POST",
    path: "/api/emails/{id}/retry",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Send a mail again to the recipients where it failed",
    body: z.strictObject({ accept_duplicates: acceptDuplicates }),
    bodyForm: "optional",
    example: { body: { accept_duplicates: false } },
    answer: z.object({ object: z.literal("email"), id: Id, ...RetryAnswer.shape }),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const id = requireId(params, "id");
    return {
      body: {
        object: "email" as const,
        id,
        ...retryJson(await retryEmail(ctx, id, body.accept_duplicates ?? false)),
      },
    };
  },
);

export const postEmailsRetry = withApi(
  {
    method: "POST",
    path: "/api/emails/retry",
    access: { scope: "emails:send" },
    tier: "other",
    summary: `Send again what a filter finds, at most ${retriedEmailsMax} mails a call`,
    body: z.strictObject({ ...EMAIL_FILTER, accept_duplicates: acceptDuplicates }),
    example: { body: { status: "failed", since: "2026-01-01T00:00:00Z" } },
    answer: z.object({ object: z.literal("retry"), ...RetryAnswer.shape }),
    errors: ["conflict"],
  },
  async ({ ctx, body }) => {
    const { accept_duplicates, ...filter } = body;
    return {
      body: {
        object: "retry" as const,
        ...retryJson(await retryEmails(ctx, emailFilterOf(filter), accept_duplicates ?? false)),
      },
    };
  },
);
