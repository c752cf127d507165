/** Maximum line length of a message, without CRLF (RFC 5322 section 2.1.1). */
export const LINE_OCTETS_MAX = 998;

const HEADER_NAME = /^[A-Za-z0-9-]{1,76}$/;

/** Fields that Backstamp sets, that only mail servers may set, or that could change the recipients. */
const RESERVED = new Map<string, string>(
  Object.entries({
    'Use the field "from".': "from",
    'Use the field "to".': "to apparently-to",
    'Use the field "cc".': "cc",
    'Use the field "bcc".': "bcc",
    'Use the field "reply_to".': "reply-to",
    'Use the field "subject".': "subject",
    'The sender is the mailbox in the field "from".': "sender",
    "Backstamp sets it.": "date mime-version",
    "Backstamp sets it and returns it.": "message-id",
    "Backstamp sets it if necessary.": "auto-submitted",
    "Backstamp signs for the sender's domain.": "dkim-signature domainkey-signature",
    "Only mail servers may set it.": "received",
    "Only the receiving server may set it.":
      "authentication-results received-spf return-path delivered-to envelope-to x-original-to",
    "Backstamp processes bounces.": "errors-to",
    "A relay could use it to change the recipients.": "x-smtpapi x-msys-api",
    "A relay could use it to add a recipient.": "x-mc-bccaddress",
  }).flatMap(([reason, names]) => names.split(" ").map((name) => [name, reason])),
);

const RESERVED_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["content-", "Backstamp derives it from the body."],
  ["arc-", "Only mail servers may set it."],
  ["resent-", "Each email is sent with a new Message-ID and without resent fields."],
  ["x-backstamp-", "The prefix is reserved for Backstamp."],
  ["x-pm-metadata-backstamp", "Backstamp uses it to identify emails."],
]);

/**
 * Fields with a structured value, in which encoded words are not allowed (RFC 5322 section 3.6, RFC 2369, RFC
 * 2919, RFC 8058).
 */
const STRUCTURED = /^(in-reply-to|references|precedence|importance|list-.*)$/;

/**
 * Validates a custom header field: `null`, or a sentence that explains the fault. A name matches
 * `[A-Za-z0-9-]{1,76}` and is not reserved. A value is one line that fits into 998 octets together with the
 * name. The two fields of one-click unsubscription must have the form required by RFC 2369 and RFC 8058.
 */
export function checkHeader(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name))
    return `${JSON.stringify(name.slice(0, 80))} is not a valid header name. Use 1 to 76 letters, digits and hyphens.`;
  const key = name.toLowerCase();
  const reserved = RESERVED.get(key) ?? findPrefix(key);
  if (reserved !== undefined) return `The header ${name} cannot be set. ${reserved}`;

  const fault = checkHeaderText(`The header ${name}`, value);
  if (fault !== null) return fault;
  if (value.trim() === "") return `The header ${name} is empty. Remove it or set a value.`;
  if (Buffer.byteLength(value) + name.length + 2 > LINE_OCTETS_MAX)
    return `The header ${name} is too long. Use at most ${LINE_OCTETS_MAX - 2} bytes for name and value together.`;
  if (STRUCTURED.test(key) && /[^\x20-\x7e]/.test(value))
    return `The header ${name} accepts ASCII only. Encode other characters as its standard requires.`;
  if (key === "list-unsubscribe" && !isUriList(value))
    return "List-Unsubscribe must be a list of URLs in angle brackets: <https://example.com/u/1>, <mailto:u@example.com>.";
  if (key === "list-unsubscribe-post" && value !== "List-Unsubscribe=One-Click")
    return "List-Unsubscribe-Post must have the value List-Unsubscribe=One-Click.";
  return null;
}

/**
 * Validates all custom headers of a message with `checkHeader`. Rejects duplicate names, case-insensitively,
 * because receivers disagree on which duplicate to use.
 */
export function checkHeaders(headers: readonly (readonly [name: string, value: string])[]): string | null {
  const seen = new Set<string>();
  for (const [name, value] of headers) {
    const fault = checkHeader(name, value);
    if (fault !== null) return fault;
    const key = name.toLowerCase();
    if (seen.has(key)) return `The header ${name} is set more than once. Set it only once.`;
    seen.add(key);
  }
  return null;
}

/**
 * Validates text for a header field (a subject, a name, a value): `null`, or a sentence that starts with
 * `subject`. Rejects line breaks, NUL, other control characters and lone surrogates; never repairs them.
 */
export function checkHeaderText(subject: string, text: string): string | null {
  if (/[\r\n]/.test(text)) return `${subject} must be one line. Remove the line break.`;
  if (/\p{Cc}/u.test(text)) return `${subject} must not contain control characters. Remove them.`;
  if (/\p{Cs}/u.test(text)) return `${subject} must be well-formed Unicode. Remove the lone surrogate.`;
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
