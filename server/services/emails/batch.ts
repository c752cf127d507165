import type { AcceptedMail } from "#db/accept";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { IdempotencyKeyTaken, type NewEmail, type Once, prepareEmail } from "./send";

export const batchMax = 100;

export type BatchAnswer = { data: { id: string }[]; errors: { index: number; message: string }[] };

/**
 * Accepts up to 100 mails in one statement. `strict`: one that cannot be sent refuses them all, with its place named.
 * `permissive`: the good ones are accepted, in order, and the others explained. An item that could not even be read
 * comes as its fault.
 */
export async function sendBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
  once?: Once,
): Promise<BatchAnswer> {
  const prepared = await prepareBatch(ctx, items, mode);
  const { errors } = prepared;
  const mails = prepared.mails.map(({ mail }) => mail);
  const answer = { data: mails.map(({ id }) => ({ id })), errors };
  const written = await ctx.accept({ mails, idempotency: once && { teamId: ctx.teamId, ...once, answer } });
  if (!written) throw new IdempotencyKeyTaken();
  ctx.wake();
  return answer;
}

/** All decisions about a batch: the mails that can be sent, each with its place, and why the others cannot. Writes nothing. */
export async function prepareBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
): Promise<{ mails: { index: number; mail: AcceptedMail }[]; errors: BatchAnswer["errors"] }> {
  const mails: { index: number; mail: AcceptedMail }[] = [];
  const errors: BatchAnswer["errors"] = [];
  for (const [index, item] of items.entries()) {
    const read = item instanceof AppError ? item : await prepareEmail(ctx, item).catch(faultOf);
    if (!(read instanceof AppError)) mails.push({ index, mail: read });
    else if (mode === "strict") throw new AppError(read.code, `[${index}]: ${read.message}`, { cause: read });
    else errors.push({ index, message: read.code === "forbidden" ? notYours : read.message });
  }
  return { mails, errors };
}

const notYours = "Insufficient API key permissions";

function faultOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}
