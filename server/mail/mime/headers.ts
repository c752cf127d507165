/** Maximum line length of a message, without CRLF (RFC 5322 section 2.1.1). */
export const LINE_OCTETS_MAX = 998;

const HEADER_NAME = /^[A-Za-z0-9-]{1,76}$/;

/** What happens to a field of a message that a program submits over SMTP. The API rejects all of these. */
type InMessage = "kept" | "removed" | "refused";
type Rule = { reason: string; inMessage: InMessage };

/** Fields that Backstamp sets, that only mail servers may set, or that could change the recipients. */
const RESERVED = new Map(
  (
    [
      ['Use the field "from".', "kept", "from"],
      ['Use the field "to".', "kept", "to"],
      ['Use the field "to".', "removed", "apparently-to"],
      ['Use the field "cc".', "kept", "cc"],
      ['Use the field "bcc".', "removed", "bcc"],
      ['Use the field "reply_to".', "kept", "reply-to"],
      ['Use the field "subject".', "kept", "subject"],
      ['The sender is the mailbox in the field "from".', "kept", "sender"],
      ["Backstamp sets it.", "kept", "date mime-version"],
      ["Backstamp sets it and returns it.", "kept", "message-id"],
      ["Backstamp signs for the sender's domain.", "removed", "dkim-signature domainkey-signature"],
      ["Only mail servers may set it.", "removed", "received"],
      [
        "Only the receiving server may set it.",
        "removed",
        "authentication-results received-spf return-path delivered-to envelope-to x-original-to",
      ],
      ["Backstamp processes bounces.", "removed", "errors-to"],
      ["A relay could use it to change the recipients.", "refused", "x-smtpapi x-msys-api"],
      ["A relay could use it to add a recipient.", "refused", "x-mc-bccaddress"],
    ] satisfies [reason: string, inMessage: InMessage, names: string][]
  ).flatMap(([reason, inMessage, names]) =>
    names.split(" ").map((name): [string, Rule] => [name, { reason, inMessage }]),
  ),
);

const RESERVED_PREFIXES: readonly [prefix: string, Rule][] = [
  ["content-", { reason: "Backstamp derives it from the body.", inMessage: "kept" }],
  ["arc-", { reason: "Only mail servers may set it.", inMessage: "removed" }],
  [
    "resent-",
    { reason: "Each email is sent with a new Message-ID and without resent fields.", inMessage: "refused" },
  ],
  ["x-backstamp-", { reason: "The prefix is reserved for Backstamp.", inMessage: "removed" }],
  ["x-mj-customid", { reason: "Backstamp uses it to identify emails.", inMessage: "removed" }],
  ["x-pm-metadata-backstamp", { reason: "Backstamp uses it to identify emails.", inMessage: "removed" }],
];

/** About the content, not how it is encoded: a program may set it. */
const ALLOWED = new Set(["content-language"]);

/**
 * Fields by which email services let a sender control an account, such as its streams, pools and tracking:
 * those of Amazon SES, Postmark, Mandrill, Mailgun, Mailjet, Brevo, SMTP2GO and SparkPost.
 */
const PROVIDER_CONTROL =
  /^x-(ses|pm|mc|mailgun|mj|mailjet|mailin|sib|smtp2go|msys|sparkpost|sg|elasticemail)-/;

/** Whether a field controls an account of an email service, which teams without their own relay share. */
export const isProviderControl = (name: string): boolean => PROVIDER_CONTROL.test(name.toLowerCase());

/** What happens to a field of a submitted message, by its lower-case name. */
export const fateInMessage = (key: string): InMessage => findRule(key)?.inMessage ?? "kept";

/** Why a field cannot be set; for a field that is not kept. */
export const explainReserved = (name: string): string =>
  `The header ${name} cannot be set. ${findRule(name.toLowerCase())?.reason ?? ""}`.trim();

/**
 * Fields with a structured value, in which encoded words are not allowed (RFC 5322 section 3.6, RFC 2369, RFC
 * 2919, RFC 8058).
 */
const STRUCTURED = /^(in-reply-to|references|precedence|importance|auto-submitted|content-language|list-.*)$/;

/**
 * Validates a custom header field: `null`, or a sentence that explains the fault. A name matches
 * `[A-Za-z0-9-]{1,76}` and is not reserved. A value is one line that fits into 998 octets together with the
 * name. The two fields of one-click unsubscription must have the form required by RFC 2369 and RFC 8058.
 */
export function checkHeader(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name))
    return `${JSON.stringify(name.slice(0, 80))} is not a valid header name. Use 1 to 76 letters, digits and hyphens.`;
  const key = name.toLowerCase();
  if (findRule(key)) return explainReserved(name);

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

const findRule = (key: string): Rule | undefined =>
  ALLOWED.has(key)
    ? undefined
    : (RESERVED.get(key) ?? RESERVED_PREFIXES.find(([prefix]) => key.startsWith(prefix))?.[1]);

/** One or more `<https:…>`, `<http:…>` or `<mailto:…>`, comma separated (RFC 2369 section 2). */
function isUriList(value: string): boolean {
  return value.split(",").every((part) => /^ *<(?:https?|mailto):[^<>\s]+> *$/i.test(part));
}
