import { z } from "zod";
import type { Ctx } from "#server/deps";
import { isIdempotencyKey } from "#server/services/emails/accept/idempotency";
import {
  cancelEmail,
  cancelSelected,
  rescheduleEmail,
  SETTLINGS,
  settleEmail,
} from "#server/services/emails/change/change";
import { retryEmail, retryEmails, retrySelected } from "#server/services/emails/change/retry";
import { describeAsApiCall } from "#server/services/emails/read/source";
import { sendAgain } from "#server/services/emails/send-again";
import { sendPlainTest } from "#server/services/emails/test-email";
import { MailboxText, recipientsPerFieldMax } from "#server/services/fields";
import { inTeam } from "../init";
import { FILTER, filterOf } from "./input";

const selectedMax = 100;
const recipientsMax = 50;
/** A higher count is shown as "more than". */
export const retryCountMax = 1_000;

const Recipients = z.array(z.string().max(320)).min(1).max(recipientsMax).optional();
const Selected = z.array(z.uuid()).min(1).max(selectedMax);
/**
 * Recipients of a new email with the content of another; a field that is left out has those of that email.
 */
export const NEW_RECIPIENTS = {
  to: z.array(MailboxText).max(recipientsPerFieldMax).optional(),
  cc: z.array(MailboxText).max(recipientsPerFieldMax).optional(),
  bcc: z.array(MailboxText).max(recipientsPerFieldMax).optional(),
};
const RepeatKey = z.string().refine(isIdempotencyKey, "Must have 1 to 256 printable ASCII characters.");
const When = z.string().trim().min(1).max(100);
const id = z.string().max(60);

const countOf = (retried: readonly { emailId: string }[]) => ({
  mails: new Set(retried.map(({ emailId }) => emailId)).size,
  recipients: retried.length,
});

/** Procedures that change one or many emails. */
export const emailMutations = {
  retry: inTeam("emails:send", { id, acceptDuplicates: z.boolean(), recipients: Recipients }).mutation(
    async ({ ctx, input }) =>
      countOf(
        (await retryEmail(ctx.service, input.id, input.acceptDuplicates, input.recipients ?? null)).retried,
      ),
  ),
  /**
   * Sends a new email with the same content. The page generates `repeatKey`, so that a double click sends
   * one.
   */
  sendAgain: inTeam("emails:send", { id, ...NEW_RECIPIENTS, repeatKey: RepeatKey }).mutation(
    ({ ctx, input: { repeatKey, to, cc, bcc, ...email } }) =>
      sendAgain(ctx.service, { id: email.id, recipients: { to, cc, bcc }, repeatKey }),
  ),
  /** Sends a short text, to try sending without a program. */
  sendTest: inTeam("emails:send", { from: MailboxText, to: MailboxText }).mutation(
    ({ ctx, input: { from, to } }) => sendPlainTest(ctx.service, { from, to }),
  ),
  cancel: inTeam("emails:send", { id }).mutation(({ ctx, input }) => cancelEmail(ctx.service, input.id)),
  reschedule: inTeam("emails:send", { id, at: When }).mutation(({ ctx, input }) =>
    rescheduleEmail(ctx.service, input.id, input.at),
  ),
  settle: inTeam("emails:send", { id, as: z.enum(SETTLINGS), recipients: Recipients }).mutation(
    async ({ ctx, input: { as, recipients = null, ...mail } }) => ({
      recipients: await settleEmail(ctx.service, mail.id, { as, recipients }),
    }),
  ),
  retrySelected: inTeam("emails:send", { ids: Selected, acceptDuplicates: z.boolean() }).mutation(
    async ({ ctx, input }) => countOf(await retrySelected(ctx.service, input.ids, input.acceptDuplicates)),
  ),
  cancelSelected: inTeam("emails:send", { ids: Selected }).mutation(({ ctx, input }) =>
    cancelSelected(ctx.service, input.ids),
  ),
  /** Retries one batch of the emails that match a filter; `next` starts the next batch, null at the end. */
  retryMatching: inTeam("emails:send", {
    ...FILTER,
    acceptDuplicates: z.boolean(),
    next: z.string().max(1_000).nullish(),
  }).mutation(async ({ ctx: { service }, input: { acceptDuplicates, next, ...filter } }) => {
    const step = await retryEmails(
      service,
      filterOf(filter, service.clock()),
      acceptDuplicates,
      next ?? null,
    );
    return { ...countOf(step.retried), next: step.next };
  }),
};

/**
 * A shell command. The here-document delimiter cannot be a line of JSON, so nothing in the body needs
 * escaping.
 */
export async function asCall(ctx: Ctx, publicUrl: string, emailId: string): Promise<{ command: string }> {
  const body = JSON.stringify(await describeAsApiCall(ctx, emailId), null, 2);
  const command = [
    `curl -sS ${publicUrl}/api/emails \\`,
    `  -H "Authorization: Bearer $BACKSTAMP_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    "  --data-binary @- <<'MAIL'",
    body,
    "MAIL",
  ].join("\n");
  return { command };
}
