/**
 * `Content-Disposition` for a file to be kept (RFC 6266): the name in plain ASCII for old readers, and whole by RFC 8187
 * where that says less. Nothing in a name can end the header or its quotes.
 */
export function attachmentDisposition(filename: string): string {
  // A percent sign would be decoded by some readers.
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === filename ? plain : `${plain}; filename*=UTF-8''${encode(filename)}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
