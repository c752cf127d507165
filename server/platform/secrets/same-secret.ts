import { createHash, timingSafeEqual } from "node:crypto";

/** Compares hashes, which have the same length, so the comparison time does not depend on the secret. */
export function isSameSecret(given: string, expected: string): boolean {
  const hashOf = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hashOf(given), hashOf(expected));
}
