import fc from "fast-check";

/**
 * Any code point except surrogates. fast-check's own unit "binary" first builds a table of all of them, for a
 * second.
 */
const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Text of any code points, with control characters. */
export const anyText = (maxLength: number): fc.Arbitrary<string> => fc.string({ unit: codePoint, maxLength });
