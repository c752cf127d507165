import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { AcceptedEmail } from "./insert-submissions";
import { IdempotencyKeyTaken, type NewEmail, type Once, prepareEmail } from "./send";

export const batchMax = 100;

export type BatchResult = { data: { id: string }[]; errors: { index: number; message: string }[] };

/**
 * Accepts up to 100 emails in one statement. `strict`: one invalid email rejects the whole batch; the error
 * names its index. `permissive`: the valid emails are accepted in order, and each invalid one is listed with
 * its error. An item that could not be parsed is passed as its AppError.
 */
export async function sendBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
  once?: Once,
): Promise<BatchResult> {
  const { emails, errors } = await prepareBatch(ctx, items, mode);
  const mails = emails.map(({ email }) => email);
  const answer = { data: mails.map(({ id }) => ({ id })), errors };
  const written = await ctx.accept({
    mails,
    idempotency: once && { teamId: ctx.teamId, ...once, answer },
  });
  if (!written) throw new IdempotencyKeyTaken();
  ctx.wake();
  return answer;
}

/**
 * Makes all decisions about a batch: the emails that can be sent, with their indexes, and why the others
 * cannot. Writes nothing.
 */
export async function prepareBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
): Promise<{ emails: { index: number; email: AcceptedEmail }[]; errors: BatchResult["errors"] }> {
  const emails: { index: number; email: AcceptedEmail }[] = [];
  const errors: BatchResult["errors"] = [];
  for (const [index, item] of items.entries()) {
    try {
      if (item instanceof AppError) throw item;
      emails.push({ index, email: await prepareEmail(ctx, item) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message, details } = error;
      if (mode === "strict") throw new AppError(code, `[${index}]: ${message}`, { cause: error, details });
      errors.push({
        index,
        message: code === "forbidden" ? `Insufficient API key permissions: ${message}` : message,
      });
    }
    // A hundred large emails must not delay the requests of other teams.
    await yieldToEventLoop();
  }
  return { emails, errors };
}
