/** Splits printable ASCII into DNS character-strings of at most 255 bytes each (RFC 1035 section 3.3). */
export const inStrings = (text: string): string[] => text.match(/.{1,255}/gs) ?? [""];

/**
 * Formats the strings as in a zone file (RFC 1035 section 5.1): each in quotation marks, separated by spaces.
 */
export const formatQuotedStrings = (text: string): string =>
  inStrings(text)
    .map((string) => `"${string.replace(/["\\]/g, "\\$&")}"`)
    .join(" ");
