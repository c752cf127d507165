import { parseDiagnostic } from "./diagnostic";
import { findAddresses, findField, findFields } from "./fields";
import { decodeText, listParts, type Part } from "./mime";
import type { Reported } from "./report";

const textCharsMax = 32_768;
const linesMax = 600;
const recipientsMax = 100;

/**
 * Phrases in the opening lines, in lower case with single spaces. A delay phrase wins over a failure phrase.
 */
const DELAYS: readonly string[] = [
  "you do not need to resend your message",
  "do not need to resend",
  "no action is required on your part",
  "this is a warning message only",
  "has not yet been delivered",
  "will continue to try",
  "delivery attempts will continue",
  "has been delayed",
  "still undelivered",
];
const FAILURES: readonly string[] = [
  // qmail
  "this is the qmail-send program",
  "wasn't able to deliver your message",
  // Exim
  "could not be delivered to one or more of its recipients",
  "the following address(es) failed",
  // Postfix, when its delivery report was removed
  "your message could not be delivered to one or more recipients",
  "i'm sorry to have to inform you that your message could not",
  // sendmail
  "had permanent fatal errors",
  "had permanent delivery errors",
  // Exchange and compatible servers
  "did not reach the following recipient(s)",
  "did not reach some or all of the intended recipients",
  "delivery has failed to these recipients",
  "delivery to the following recipients failed",
  // Gmail
  "delivery to the following recipient failed permanently",
  "your message wasn't delivered to",
  // Domino, MDaemon, Courier and others
  "your message was not delivered",
  "message was undeliverable",
  "unable to deliver",
  "could not be delivered",
  "undeliverable mail",
];

/** Lines that introduce the returned email. */
const COPY =
  /^[\s*>-]{0,10}(?:this is a copy of|below this line is a copy|original message|original message header|message header follows|included is a copy|unsent message below|undelivered message|message follows|returned message|the header of the original message|a copy of the message|received: |return-path: )/i;

const MACHINES =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|postmaster|mdaemon|mail[-_.]?delivery|mailerdaemon|microsoftexchange|bounces?|mmdf|maildelivery|mail-?system|mailsubsystem)/i;

/**
 * Reads bounces that do not follow RFC 3464: those of qmail, Exim, older Exchange, and plain text notices.
 * Null if the message is not a bounce: it must come from a mail system's address and contain a known phrase.
 */
export function parsePlainBounce(message: Part): Reported[] | null {
  const failed = findFields(message.fields, "x-failed-recipients").flatMap((value) =>
    findAddresses(value, recipientsMax),
  );
  const [from] = findAddresses(findField(message.fields, "from") ?? "", 1);
  if (failed.length === 0 && !MACHINES.test(from ?? "")) return null;
  const part = [...listParts(message)].find(({ type }) => type === "text/plain");
  const text = (part ?? message).parts.length > 0 ? "" : decodeText(part ?? message, textCharsMax);
  const opening = text.slice(0, 4_000).toLowerCase().replace(/\s+/g, " ").replace(/[’`]/g, "'");
  const isDelay = DELAYS.some((words) => opening.includes(words));
  if (!isDelay && failed.length === 0 && !FAILURES.some((words) => opening.includes(words))) return null;

  const action = isDelay ? "delayed" : "failed";
  const lines = readNoticeLines(text);
  const entries = parseEntries(lines, failed);
  const whole = parseDiagnostic(lines.join(" "), null);
  if (entries.length === 0) return [{ action, recipients: [], reply: whole, host: null }];
  return entries.slice(0, recipientsMax).map(({ address, text: own }) => ({
    action,
    recipients: [address],
    // A reason that appears only once applies to all recipients.
    reply: own.trim() === "" ? whole : parseDiagnostic(own, null),
    host: /\bhost ([\w.-]{1,255})/i.exec(own)?.[1] ?? null,
  }));
}

/** The lines of the notice, without the returned email below them. */
function readNoticeLines(text: string): string[] {
  const lines = text.split("\n", linesMax);
  const end = lines.findIndex((line, index) => index > 0 && COPY.test(line));
  return end === -1 ? lines : lines.slice(0, end);
}

/**
 * Finds lines that start with an address; the text of an entry is everything up to the next such line. With a
 * non-empty `allowed` only those addresses count.
 */
function parseEntries(
  lines: readonly string[],
  allowed: readonly string[],
): { address: string; text: string }[] {
  const entries = new Map(
    allowed.map((address) => [address.toLowerCase(), { address, lines: [] as string[] }]),
  );
  let open: { lines: string[] } | undefined;
  for (const line of lines) {
    const address = readLeadingAddress(line);
    const known = address === null ? undefined : entries.get(address.toLowerCase());
    if (address === null || (!known && allowed.length > 0)) {
      open?.lines.push(line);
      continue;
    }
    open = known ?? { lines: [] };
    if (!known) entries.set(address.toLowerCase(), { address, lines: open.lines });
    open.lines.push(line.slice(line.indexOf(address) + address.length).replace(/^[>:)\]"' ]+/, ""));
  }
  return [...entries.values()].map(({ address, lines: own }) => ({ address, text: own.join(" ") }));
}

/**
 * Matches `<ann@example.com>:`, ` ann@example.com` or `ann@example.com on Mon, …`, but not a sentence with an
 * address.
 */
function readLeadingAddress(line: string): string | null {
  const found = /^[\s"'(<[]{0,40}([^\s@<>()[\],;:"']{1,64}@[^\s@<>()[\],;:"']{1,255})(?=$|[>:)\]"'\s])/.exec(
    line,
  );
  const address = found?.[1];
  if (address === undefined) return null;
  const rest = line.slice(line.indexOf(address) + address.length).replace(/^[>)\]"']+/, "");
  return /^\s*$|^:|^\s+on\s|^\s+\(|^\s*\.{2,}/.test(rest) ? address.replace(/\.$/, "") : null;
}
