/** Names are free text, so control characters are removed and the length is limited. */
export const oneLine = (name: string): string =>
  name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").slice(0, 120);
