import { and, eq, sql } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Once } from "./send";

export const keyLengthMax = 256;

/** Whether a text can be an idempotency key: 1 to 256 printable ASCII characters. */
export const isIdempotencyKey = (key: string): boolean =>
  key.length >= 1 && key.length <= keyLengthMax && /^[\x20-\x7e]+$/.test(key);

/**
 * The stored response of an earlier request with this key, or null. Throws if that request had another
 * payload.
 */
export async function findStoredResponse(
  ctx: Ctx,
  once: Once,
): Promise<{ body: Record<string, unknown>; status: number } | null> {
  const [row] = await ctx.db
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.teamId, ctx.teamId),
        eq(idempotencyKeys.route, once.route),
        eq(idempotencyKeys.key, once.key),
        sql`${idempotencyKeys.expiresAt} > now()`,
      ),
    );
  if (!row) return null;
  if (Buffer.compare(row.fingerprint, once.fingerprint) !== 0)
    throw new AppError(
      "idempotency_mismatch",
      "This `Idempotency-Key` was used with a different payload. Send the same payload, or use a new key.",
    );
  return { status: row.status, body: row.answer as Record<string, unknown> };
}
