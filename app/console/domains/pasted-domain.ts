/**
 * The domain in what a user pastes or types: an address, a URL or a name. A `www.` in front of a URL's host
 * is removed, because it names a web server. Text without a domain is returned as it is, for the error to
 * name it.
 */
export function domainIn(text: string): string {
  const trimmed = text.trim();
  const isUrl = trimmed.includes("/");
  const address = isUrl ? trimmed : trimmed.slice(trimmed.lastIndexOf("@") + 1).replace(/>$/, "");
  if (!isUrl && !address.includes(":")) return address;
  try {
    const { hostname } = new URL(address.includes("://") ? address : `https://${address}`);
    return hostname.startsWith("www.") ? hostname.slice("www.".length) : hostname;
  } catch {
    return trimmed;
  }
}

/**
 * What replaces the field when a URL or an address is pasted. Null for other text, which can be a part of a
 * name: the browser inserts it at the cursor.
 */
export const pastedDomain = (text: string): string | null => (/[/@]/.test(text) ? domainIn(text) : null);
