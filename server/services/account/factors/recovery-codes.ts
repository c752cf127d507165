import { randomBytes } from "node:crypto";
import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { recoveryCodes } from "#db/schema/account";
import { newId } from "#server/platform/ids";
import { hashToken } from "#server/platform/secrets/one-time-token";

const codes = 10;
const randomBytesEach = 10;
/**
 * Crockford's base 32: without letters that look like digits, and without U, which avoids offensive words.
 */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/** Replaces the user's recovery codes with ten new ones of 80 random bits each. Only hashes are stored. */
export async function replaceRecoveryCodes(tx: Db, userId: string): Promise<string[]> {
  const created = Array.from({ length: codes }, generateCode);
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  await tx
    .insert(recoveryCodes)
    .values(created.map((code) => ({ id: newId(), userId, codeHash: hashToken(normalize(code)) })));
  return created;
}

/** Whether a text has the format of a recovery code. Ignores spaces, dashes and letter case. */
export const isRecoveryCode = (text: string): boolean => CODE.test(normalize(text));

/** Marks a recovery code as used. Returns true once per code. */
export async function consumeRecoveryCode(tx: Db, input: { userId: string; code: string }): Promise<boolean> {
  const used = await tx
    .update(recoveryCodes)
    .set({ usedAt: sql`now()` })
    .where(
      and(
        eq(recoveryCodes.userId, input.userId),
        eq(recoveryCodes.codeHash, hashToken(normalize(input.code))),
        isNull(recoveryCodes.usedAt),
      ),
    )
    .returning({ id: recoveryCodes.id });
  return used.length > 0;
}

function generateCode(): string {
  let bits = BigInt(`0x${randomBytes(randomBytesEach).toString("hex")}`);
  let text = "";
  for (let i = 0; i < (randomBytesEach * 8) / 5; i++) {
    text += ALPHABET[Number(bits & 31n)];
    bits >>= 5n;
  }
  return text.replace(/(.{4})(?=.)/g, "$1-");
}

/**
 * The form that is hashed: upper case, without separators, with O, I and L replaced by the digits they
 * resemble.
 */
const normalize = (text: string): string =>
  text.slice(0, 60).replace(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
