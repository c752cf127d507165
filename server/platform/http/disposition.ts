/**
 * `Content-Disposition` for a download (RFC 6266): the file name in ASCII for old clients, and the full name
 * as in RFC 8187 if it differs. A name cannot break out of the quotes or the header.
 */
export function attachmentDisposition(filename: string): string {
  // Some clients decode percent signs in the ASCII name.
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === filename ? plain : `${plain}; filename*=UTF-8''${encode(filename)}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
