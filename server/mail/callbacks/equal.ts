import { createHash, timingSafeEqual } from "node:crypto";

const hash = (text: string) => createHash("sha256").update(text).digest();

/** Compares two texts. The duration does not depend on where they differ, nor on the length of `expected`. */
export const isEqual = (actual: string, expected: string): boolean =>
  timingSafeEqual(hash(actual), hash(expected));
