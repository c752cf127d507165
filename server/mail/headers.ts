/** Longest line of a message without its CRLF (RFC 5322 section 2.1.1). */
export const LINE_OCTETS_MAX = 998;

const HEADER_NAME = /^[A-Za-z0-9-]{1,76}$/;

/** Fields that Posthorn writes itself, that only a server on the way may write, or that would change who gets the mail. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ["from", 'Use the field "from".'],
  ["to", 'Use the field "to".'],
  ["cc", 'Use the field "cc".'],
  ["bcc", 'Use the field "bcc".'],
  ["reply-to", 'Use the field "reply_to".'],
  ["subject", 'Use the field "subject".'],
  ["sender", "The sender is the mailbox in from."],
  ["date", "Posthorn writes it."],
  ["message-id", "Posthorn writes it and returns it."],
  ["mime-version", "Posthorn writes it."],
  ["auto-submitted", "Posthorn writes it where it belongs."],
  ["dkim-signature", "Posthorn signs for the sender's domain."],
  ["domainkey-signature", "Posthorn signs for the sender's domain."],
  ["authentication-results", "Only a receiving server may write it."],
  ["received", "Only a server on the way may write it."],
  ["received-spf", "Only a receiving server may write it."],
  ["return-path", "Only a receiving server may write it."],
  ["delivered-to", "Only a receiving server may write it."],
  ["envelope-to", "Only a receiving server may write it."],
  ["x-original-to", "Only a receiving server may write it."],
  ["apparently-to", 'Use the field "to".'],
  ["errors-to", "Bounces come back to Posthorn."],
  ["x-smtpapi", "It can change the recipients at a relay."],
  ["x-msys-api", "It can change the recipients at a relay."],
  ["x-mc-bccaddress", "It can add a recipient at a relay."],
]);

const RESERVED_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["content-", "Posthorn writes it from the body."],
  ["arc-", "Only a server on the way may write it."],
  ["resent-", "A mail is sent once, with a new Message-ID."],
  ["x-posthorn-", "The prefix is Posthorn's own."],
  ["x-pm-metadata-posthorn", "Posthorn marks mail by it."],
]);

/** Fields whose value is syntax: an encoded word in them would be read as garbage. */
const ASCII_ONLY: ReadonlySet<string> = new Set([
  "in-reply-to",
  "references",
  "list-id",
  "precedence",
  "importance",
]);

/** Fields that a message has at most once (RFC 5322 section 3.6, RFC 2369, RFC 2919, RFC 8058). */
const isStructured = (name: string) => ASCII_ONLY.has(name) || name.startsWith("list-");

/**
 * Whether a caller may set this header field: `null`, or a sentence that says why not. Names are
 * `[A-Za-z0-9-]{1,76}` outside the reserved ones, values are one line that fits 998 octets with its name. The two
 * fields of one-click unsubscription must have the form that RFC 2369 and RFC 8058 demand.
 */
export function checkHeader(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name))
    return `${JSON.stringify(name.slice(0, 80))} is no header name. Use 1 to 76 letters, digits and hyphens.`;
  const key = name.toLowerCase();
  const reserved = RESERVED.get(key) ?? findPrefix(key);
  if (reserved !== undefined) return `The header ${name} cannot be set. ${reserved}`;

  const fault = checkHeaderText(`The header ${name}`, value);
  if (fault !== null) return fault;
  if (value.trim() === "") return `The header ${name} is empty. Leave it out or give it a value.`;
  if (Buffer.byteLength(value) + name.length + 2 > LINE_OCTETS_MAX)
    return `The header ${name} is too long. Name and value have at most ${LINE_OCTETS_MAX - 2} bytes together.`;
  if (isStructured(key) && /[^\x20-\x7e]/.test(value))
    return `The header ${name} takes ASCII only. Encode other characters the way its standard says.`;
  if (key === "list-unsubscribe" && !isUriList(value))
    return "List-Unsubscribe is a list of addresses in angle brackets: <https://example.com/u/1>, <mailto:u@example.com>.";
  if (key === "list-unsubscribe-post" && value !== "List-Unsubscribe=One-Click")
    return "List-Unsubscribe-Post has exactly one value: List-Unsubscribe=One-Click.";
  return null;
}

/**
 * `checkHeader` for all of a message's custom headers; besides, no name may come twice in whatever letter case, since
 * receivers disagree on which of two they read.
 */
export function checkHeaders(headers: readonly (readonly [name: string, value: string])[]): string | null {
  const seen = new Set<string>();
  for (const [name, value] of headers) {
    const fault = checkHeader(name, value);
    if (fault !== null) return fault;
    const key = name.toLowerCase();
    if (seen.has(key)) return `The header ${name} is given twice. Give it once.`;
    seen.add(key);
  }
  return null;
}

/**
 * Whether text may become part of a header field (a subject, a name, a value): `null`, or a sentence beginning with
 * `what`. Refuses line breaks, NUL and every other control character, and lone surrogates; never repairs them.
 */
export function checkHeaderText(what: string, text: string): string | null {
  if (/[\r\n]/.test(text)) return `${what} must be one line. Remove the line break.`;
  if (/\p{Cc}/u.test(text)) return `${what} must not contain control characters. Remove them.`;
  if (/\p{Cs}/u.test(text)) return `${what} must be well-formed Unicode. Remove the lone surrogate.`;
  return null;
}

function findPrefix(key: string): string | undefined {
  for (const [prefix, reason] of RESERVED_PREFIXES) if (key.startsWith(prefix)) return reason;
  return undefined;
}

/** One or more `<https:…>`, `<http:…>` or `<mailto:…>`, comma separated (RFC 2369 section 2). */
function isUriList(value: string): boolean {
  return value.split(",").every((part) => /^ *<(?:https?|mailto):[^<>\s]+> *$/i.test(part));
}
