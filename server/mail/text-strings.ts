/** A text of printable ASCII as the strings that DNS carries it in: of at most 255 bytes each (RFC 1035 section 3.3). */
export const inStrings = (text: string): string[] => text.match(/.{1,255}/gs) ?? [""];

/** The same as zone files write it (RFC 1035 section 5.1): each string in quotation marks, blanks between. */
export const inQuotes = (text: string): string =>
  inStrings(text)
    .map((string) => `"${string.replace(/["\\]/g, "\\$&")}"`)
    .join(" ");
