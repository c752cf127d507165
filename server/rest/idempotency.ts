import { createHash } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/idempotency";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import type { Once } from "#server/services/emails/send";
import type { Answer } from "./route";

const keyLengthMax = 256;

/** Reads `Idempotency-Key`: 1 to 256 printable characters, kept for 24 hours per team and route. */
export function readIdempotencyKey(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key === null) return null;
  if (key.length < 1 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key))
    throw new AppError(
      "bad_idempotency_key",
      `The \`Idempotency-Key\` header must have 1 to ${keyLengthMax} printable ASCII characters. Use a UUID, for example.`,
    );
  return key;
}

/** What a key is bound to: the parsed body with its names in order, so that only meaning counts and not spelling. */
export function fingerprintOf(body: unknown): Uint8Array {
  return createHash("sha256").update(canonical(body)).digest();
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}

/** The answer that was given under this key before, or null. Another payload under it is refused. */
export async function findAnswer(ctx: Ctx, once: Once): Promise<Required<Answer> | null> {
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
      "This `Idempotency-Key` was used with another payload. Send the same payload, or use a new key.",
    );
  return { status: row.status, body: row.answer as Record<string, unknown> };
}
