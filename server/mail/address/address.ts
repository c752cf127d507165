import { encodeMailbox, quoteName } from "../mime/encode-header";
import { toAsciiDomain } from "./idna";

/**
 * A parsed mailbox. `domain` is a lower-case A-label host name of at least two labels, `local` is an unquoted
 * dot-atom, `address` is `local@domain`. `smtpUtf8` marks a non-ASCII local part, which requires servers with
 * SMTPUTF8 (RFC 6531). An internationalized domain alone does not require it.
 */
export type Mailbox = {
  name: string | null;
  local: string;
  domain: string;
  address: string;
  smtpUtf8: boolean;
};

/** A parsed mailbox, or a sentence for the caller that explains the fault and the correct form. */
export type ParsedMailbox = { ok: true; mailbox: Mailbox } | { ok: false; fault: string };

/**
 * Maximum sizes: in octets for SMTP (RFC 5321 section 4.5.3.1), and in characters (`chars`) for the whole
 * mailbox, both as entered and as encoded in a header.
 */
export const MAILBOX_LIMITS = { chars: 1000, local: 64, label: 63, domain: 255 } as const;

/**
 * A mailbox of up to this length is never too long in a header: an encoded word has at most eight characters
 * for each character of the name.
 */
const shortChars = 100;

const ONE_MAILBOX = "Enter one mailbox: ann@example.com or Ann <ann@example.com>.";
const TOO_LONG = `A mailbox has at most ${MAILBOX_LIMITS.chars} characters including its name. A name that must be encoded (RFC 2047) needs more characters. Shorten the name.`;
const NO_IP_DOMAIN = "IP addresses as domains are not supported. Use a full domain such as example.com.";
const QUOTE_THE_NAME = 'Put the name in double quotes, as in "Ann, Sales" <ann@example.com>.';

const LOCAL_CHAR = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]$|^[^\0-\x7f\p{C}\p{Z}]$/u;
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Parses exactly one mailbox with a stricter grammar than RFC 5322: `dot-atom@host.name`, alone or in angle
 * brackets after a display name, quoted or not. Input that other parsers could interpret differently is
 * rejected, never repaired: routes, groups, comments, domain literals, quoted local parts, lists, text after
 * the address. A display name may contain `@`; only the address counts. The domain is normalized with UTS-46.
 * Takes linear time.
 */
export function parseMailbox(input: string): ParsedMailbox {
  if (input.length > MAILBOX_LIMITS.chars) return reject(TOO_LONG);
  const read = parseLongMailbox(input);
  const mayBeTooLong = input.length > shortChars && read.ok;
  return mayBeTooLong && encodeMailbox(read.mailbox).length > MAILBOX_LIMITS.chars ? reject(TOO_LONG) : read;
}

/**
 * `parseMailbox` without the limit on the total length, for mailboxes from the database or from our own
 * headers: the formatted mailbox may be longer than the caller's input.
 */
export function parseLongMailbox(input: string): ParsedMailbox {
  if (/\p{Cc}/u.test(input))
    return reject(
      "A mailbox must not contain control characters such as line breaks, tabs or NUL. Remove them.",
    );
  if (/\p{Cs}/u.test(input))
    return reject("A mailbox must be well-formed Unicode. Remove the lone surrogate.");

  const text = trimBlanks(input);
  if (text === "") return reject(`The mailbox is empty. ${ONE_MAILBOX}`);
  if (!text.endsWith(">")) {
    if (text.includes("<")) return reject(`Text follows the address in angle brackets. ${ONE_MAILBOX}`);
    return parseAddress(text, null);
  }

  const open = text.lastIndexOf("<");
  if (open === -1) return reject(`The opening angle bracket is missing. ${ONE_MAILBOX}`);
  const name = parseName(trimBlanks(text.slice(0, open)));
  return name.ok ? parseAddress(text.slice(open + 1, -1), name.value) : name;
}

/** `parseLongMailbox` for a stored mailbox. RangeError if it cannot be parsed. */
export function parseStoredMailbox(text: string): Mailbox {
  const read = parseLongMailbox(text);
  if (!read.ok) throw new RangeError(`a stored mailbox cannot be parsed: ${read.fault}`);
  return read.mailbox;
}

/**
 * Formats a mailbox for API responses and pages, not for email headers. `parseLongMailbox` parses it back
 * unchanged.
 */
export function formatMailbox(mailbox: Pick<Mailbox, "name" | "address">): string {
  if (mailbox.name === null) return mailbox.address;
  return `${isPlainName(mailbox.name) ? mailbox.name : quoteName(mailbox.name)} <${mailbox.address}>`;
}

function parseAddress(text: string, name: string | null): ParsedMailbox {
  const at = text.indexOf("@");
  if (at === -1) return reject(`The address has no "@". ${ONE_MAILBOX}`);
  if (text.startsWith('"'))
    return reject("Quoted local parts are not supported. Use an address such as ann.smith@example.com.");
  if (text[at + 1] === "[") return reject(NO_IP_DOMAIN);
  const misplaced = /[\s,;:()<>]/u.exec(text)?.[0];
  if (misplaced !== undefined) return reject(explainMisplaced(misplaced));
  if (text.indexOf("@", at + 1) !== -1) return reject(`The address has more than one "@". ${ONE_MAILBOX}`);

  const local = text.slice(0, at).normalize("NFC");
  const fault = faultOfLocal(local);
  if (fault !== null) return reject(fault);
  const read = parseDomainName(text.slice(at + 1));
  if (!read.ok) return read;
  const { domain } = read;
  const address = `${local}@${domain}`;
  return { ok: true, mailbox: { name, local, domain, address, smtpUtf8: /[^\0-\x7f]/.test(local) } };
}

function faultOfLocal(local: string): string | null {
  if (local === "") return `The part before the "@" is missing. ${ONE_MAILBOX}`;
  if (Buffer.byteLength(local) > MAILBOX_LIMITS.local)
    return `The part before the "@" is longer than ${MAILBOX_LIMITS.local} bytes. Use a shorter address.`;
  if (local.startsWith(".") || local.endsWith(".") || local.includes(".."))
    return 'A dot before the "@" must be between other characters, as in ann.smith@example.com.';
  for (const char of local)
    if (char !== "." && !LOCAL_CHAR.test(char))
      return `${JSON.stringify(char)} is not allowed before the "@". Use letters, digits and .!#$%&'*+-/=?^_\`{|}~ only.`;
  return null;
}

/**
 * Normalizes a domain name: UTS-46 mapped, lower-case A-labels. Rejects address literals, numeric hosts,
 * single labels and a trailing dot.
 */
export function parseDomainName(input: string): { ok: true; domain: string } | { ok: false; fault: string } {
  const example = "Use a full domain such as example.com.";
  if (input === "") return reject(`The domain is missing. ${example}`);
  if (input.startsWith("[")) return reject(NO_IP_DOMAIN);
  if (input.length > MAILBOX_LIMITS.domain)
    return reject(`A domain has at most ${MAILBOX_LIMITS.domain} characters.`);
  // The host mapping may accept other ASCII, such as "_" or "/": only letters, digits, "-" and "." may reach
  // it.
  if (/[\0-,/:-@[-`{-\x7f]/.test(input))
    return reject(`The domain contains an invalid character. ${example}`);
  const ascii = toAsciiDomain(input);
  if (ascii === null) return reject(`The domain is not a valid name (IDNA). ${example}`);
  if (ascii.endsWith(".")) return reject(`The domain ends with a dot. Remove the dot.`);
  if (ascii.length > MAILBOX_LIMITS.domain)
    return reject(`A domain has at most ${MAILBOX_LIMITS.domain} characters.`);

  const labels = ascii.split(".");
  if (labels.length < 2) return reject(`The domain has only one label. ${example}`);
  if (!labels.every((label) => LDH_LABEL.test(label)))
    return reject(
      `Each label of a domain must have 1 to ${MAILBOX_LIMITS.label} letters, digits or inner hyphens. ${example}`,
    );
  if (/^[0-9]+$/.test(labels[labels.length - 1] ?? "")) return reject(NO_IP_DOMAIN);
  return { ok: true, domain: ascii };
}

/** An absent or empty name is `null`. */
function parseName(text: string): { ok: true; value: string | null } | { ok: false; fault: string } {
  if (text === "") return { ok: true, value: null };
  if (!text.startsWith('"')) {
    if (isPlainName(text)) return { ok: true, value: text };
    const advice = /[<>]/.test(text) ? ONE_MAILBOX : QUOTE_THE_NAME;
    return reject(`The display name contains a character that must be quoted. ${advice}`);
  }
  let name = "";
  let at = 1;
  while (at < text.length && text[at] !== '"') {
    if (text[at] === "\\") at += 1;
    name += text[at] ?? "";
    at += 1;
  }
  if (at !== text.length - 1)
    return reject(`The quotes around the display name do not match. ${QUOTE_THE_NAME}`);
  return { ok: true, value: trimBlanks(name) || null };
}

/**
 * Whether a name needs no quotes: it has no character that starts a comment, group, route, list or second
 * address.
 */
function isPlainName(name: string): boolean {
  return name !== "" && !name.startsWith(" ") && !name.endsWith(" ") && !/[()<>,;:\\"]/.test(name);
}

function explainMisplaced(char: string): string {
  if (char === "," || char === ";")
    return `Only one mailbox is allowed here. ${ONE_MAILBOX} Use an array for several mailboxes.`;
  if (char === "(" || char === ")") return `Comments in parentheses are not supported. ${ONE_MAILBOX}`;
  if (char === ":") return `Groups and routes are not supported. ${ONE_MAILBOX}`;
  return `The address contains ${JSON.stringify(char)}. Put a name before the address in angle brackets: Ann <ann@example.com>.`;
}

/** Trims spaces only: the grammar handles other whitespace. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text[from] === " ") from += 1;
  while (to > from && text[to - 1] === " ") to -= 1;
  return text.slice(from, to);
}

function reject(fault: string): { ok: false; fault: string } {
  return { ok: false, fault };
}
