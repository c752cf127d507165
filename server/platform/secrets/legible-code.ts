import { randomBytes } from "node:crypto";

/** Crockford's base 32, which has no letters that look like digits. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const charsMax = 100;

/**
 * Generates a code for people to read and type, such as `4F9K-02MX-…`. `bits` of randomness, a multiple of
 * 40.
 */
export function makeLegibleCode(bits: number): string {
  let left = BigInt(`0x${randomBytes(bits / 8).toString("hex")}`);
  let text = "";
  for (let i = 0; i < bits / 5; i++) {
    text += ALPHABET[Number(left & 31n)];
    left >>= 5n;
  }
  return text.replace(/(.{4})(?=.)/g, "$1-");
}

/**
 * Normalizes a typed code for comparison: removes spaces and dashes, converts to upper case, `O` to `0`, `I`
 * and `L` to `1`.
 */
export const normalizeLegibleCode = (text: string): string =>
  text.slice(0, charsMax).replace(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
