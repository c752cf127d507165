/**
 * The URL that this text is, relative to `base` if one is given, or null. `URL.canParse` is not used because
 * in Node 20 it rejects every text with a letter beyond ASCII, such as `https://bücher.example/`, once its
 * calls have been optimized.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
