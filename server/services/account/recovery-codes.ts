import { createHash, randomBytes } from "node:crypto";
import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { recoveryCodes } from "#db/schema/account";
import { newId } from "#server/ids";

const codes = 10;
const randomBytesEach = 10;
/** Crockford's base 32: no letter that is taken for a digit, no word that anybody regrets. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/**
 * Makes ten codes in place of all earlier ones, each of 80 random bits. They are answered this once: what stays are
 * their hashes.
 */
export async function replaceRecoveryCodes(tx: Db, userId: string): Promise<string[]> {
  const made = Array.from({ length: codes }, makeCode);
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  await tx
    .insert(recoveryCodes)
    .values(made.map((code) => ({ id: newId(), userId, codeHash: hashOf(read(code)) })));
  return made;
}

/** Whether a text has the form of a recovery code, however it is spaced and in whatever case. */
export const isRecoveryCode = (text: string): boolean => CODE.test(read(text));

/** Spends a recovery code: true once for each. */
export async function takeRecoveryCode(tx: Db, input: { userId: string; code: string }): Promise<boolean> {
  const taken = await tx
    .update(recoveryCodes)
    .set({ usedAt: sql`now()` })
    .where(
      and(
        eq(recoveryCodes.userId, input.userId),
        eq(recoveryCodes.codeHash, hashOf(read(input.code))),
        isNull(recoveryCodes.usedAt),
      ),
    )
    .returning({ id: recoveryCodes.id });
  return taken.length > 0;
}

function makeCode(): string {
  let bits = BigInt(`0x${randomBytes(randomBytesEach).toString("hex")}`);
  let text = "";
  for (let i = 0; i < (randomBytesEach * 8) / 5; i++) {
    text += ALPHABET[Number(bits & 31n)];
    bits >>= 5n;
  }
  return text.replace(/(.{4})(?=.)/g, "$1-");
}

/** As it is hashed: letters that people take for digits are those digits. */
const read = (text: string): string =>
  text.slice(0, 60).replace(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");

const hashOf = (code: string): Uint8Array => createHash("sha256").update(code).digest();
