import { createHash } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Once } from "./send";

export const keyLengthMax = 256;
const hashedChars = 64 * 1024;

/** Whether a text can be an idempotency key: 1 to 256 printable ASCII characters. */
export const isIdempotencyKey = (key: string): boolean =>
  key.length >= 1 && key.length <= keyLengthMax && /^[\x20-\x7e]+$/.test(key);

/** SHA-256 of the parsed body with sorted field names. Whitespace and field order do not change it. */
export function fingerprintOf(body: unknown): Uint8Array {
  const hash = createHash("sha256");
  let pending = "";
  writeCanonical(body, (text) => {
    pending += text;
    if (pending.length < hashedChars) return;
    hash.update(pending);
    pending = "";
  });
  return hash.update(pending).digest();
}

/**
 * Writes in pieces: the canonical text of a file sent as an array of numbers takes a hundred times its bytes
 * in memory.
 */
function writeCanonical(value: unknown, write: (text: string) => void): void {
  if (Array.isArray(value)) {
    write("[");
    for (let n = 0; n < value.length; n++) {
      if (n > 0) write(",");
      writeCanonical(value[n], write);
    }
    write("]");
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    write("{");
    for (const [n, [key, item]] of entries.entries()) {
      write(`${n > 0 ? "," : ""}${JSON.stringify(key)}:`);
      writeCanonical(item, write);
    }
    write("}");
  } else write(JSON.stringify(value) ?? "null");
}

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
