import type { OutgoingMessage } from "../transport";

export type Offers = ReturnType<typeof parseOffers>;

const NON_ASCII = /[^\0-\x7f]/;

/** The extensions in a server's EHLO reply. `sizeMax` is 0 without a limit (RFC 1870). */
export function parseOffers(ehlo: string) {
  const has = (name: string) => new RegExp(`^250[ -]${name}\\b`, "im").test(ehlo);
  return {
    size: has("SIZE"),
    sizeMax: Number(/^250[ -]SIZE +([0-9]{1,15})/im.exec(ehlo)?.[1] ?? 0),
    smtpUtf8: has("SMTPUTF8"),
    eightBitMime: has("8BITMIME"),
    dsn: has("DSN"),
    pipelining: has("PIPELINING"),
  };
}

/** Formats MAIL, and RCPT for each recipient, with the parameters that the server offers. */
export function formatEnvelope(
  message: OutgoingMessage,
  recipients: readonly string[],
  offers: Offers,
): { mail: string; rcpts: string[] } {
  const { returnPath, smtpUtf8, sevenBit, bytes } = message;
  const reports = offers.dsn ? requestReports(message, recipients) : { mail: "", rcpt: "" };
  // A UTF-8 header needs SMTPUTF8 like an address does (RFC 6531, 3.4).
  const usesUtf8 = smtpUtf8 || NON_ASCII.test(returnPath) || recipients.some((one) => NON_ASCII.test(one));
  const parameters = [
    offers.smtpUtf8 && usesUtf8 ? " SMTPUTF8" : "",
    offers.eightBitMime && (smtpUtf8 || sevenBit !== undefined) ? " BODY=8BITMIME" : "",
    offers.size && bytes.length > 0 ? ` SIZE=${bytes.length}` : "",
    reports.mail,
  ];
  return {
    mail: `MAIL FROM:<${returnPath}>${parameters.join("")}`,
    rcpts: recipients.map((recipient) => `RCPT TO:<${recipient}>${reports.rcpt}`),
  };
}

/**
 * DSN parameters (RFC 3461): request reports of failures and delays with the header only, and set the email's
 * id and the original recipient. A non-ASCII address is omitted: it needs a different form (RFC 6533).
 */
function requestReports(
  { id, wantsReports }: OutgoingMessage,
  recipients: readonly string[],
): { mail: string; rcpt: string } {
  const [recipient, ...others] = recipients;
  if (!wantsReports || recipient === undefined || others.length > 0) return { mail: "", rcpt: "" };
  const original = /^[\x21-\x7e]+$/.test(recipient) ? ` ORCPT=rfc822;${encodeXtext(recipient)}` : "";
  return { mail: ` RET=HDRS ENVID=${encodeXtext(id)}`, rcpt: ` NOTIFY=FAILURE,DELAY${original}` };
}

/** RFC 3461, section 4: `+` and `=` and all but printable ASCII as `+` and two hexadecimal digits. */
const encodeXtext = (text: string): string =>
  text.replace(/[^!-~]|[+=]/gu, (char) =>
    Buffer.from(char).toString("hex").toUpperCase().replace(/../g, "+$&"),
  );
