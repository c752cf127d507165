import { createHash } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/idempotency";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import type { Once } from "#server/services/emails/send";
import type { Answer } from "./route";

const keyLengthMax = 256;
const hashedChars = 64 * 1024;

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

/** In pieces: the canonical text of a file that came as a list of numbers is a hundred times its bytes in memory. */
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
