import { randomBytes } from "node:crypto";

/** Crockford's base 32: no letter that is taken for a digit. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const charsMax = 100;

/** A code of so many random bits, a multiple of 40, for people to read and type: `4F9K-02MX-…`. */
export function makeLegibleCode(bits: number): string {
  let left = BigInt(`0x${randomBytes(bits / 8).toString("hex")}`);
  let text = "";
  for (let i = 0; i < bits / 5; i++) {
    text += ALPHABET[Number(left & 31n)];
    left >>= 5n;
  }
  return text.replace(/(.{4})(?=.)/g, "$1-");
}

/** A code as it was typed, in the one form that it is compared in: blanks and dashes do not count, nor does `O` for `0`. */
export const foldLegibleCode = (text: string): string =>
  text.slice(0, charsMax).replace(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
