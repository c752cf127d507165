import { readDiagnostic } from "./diagnostic";
import { addressesIn, fieldOf, fieldsOf } from "./fields";
import { allParts, type Part, textOf } from "./mime";
import type { Reported } from "./report";

const textCharsMax = 32_768;
const linesMax = 600;
const recipientsMax = 100;

/** By what is said in the first lines, in small letters and single blanks. Whatever still goes on is no failure. */
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
  // Postfix, where its report was taken off
  "your message could not be delivered to one or more recipients",
  "i'm sorry to have to inform you that your message could not",
  // sendmail
  "had permanent fatal errors",
  "had permanent delivery errors",
  // Exchange and its relatives
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

/** Lines with which the returned mail begins. */
const COPY =
  /^[\s*>-]{0,10}(?:this is a copy of|below this line is a copy|original message|original message header|message header follows|included is a copy|unsent message below|undelivered message|message follows|returned message|the header of the original message|a copy of the message|received: |return-path: )/i;

const MACHINES =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|postmaster|mdaemon|mail[-_.]?delivery|mailerdaemon|microsoftexchange|bounces?|mmdf|maildelivery|mail-?system|mailsubsystem)/i;

/**
 * What the bounces say that follow no RFC: those of qmail, of Exim, of older Exchange, and such as are a letter only. Null where
 * the message is none: it must come from a machine for mail, and say so in words known here.
 */
export function readPlainBounce(message: Part): Reported[] | null {
  const failed = fieldsOf(message.fields, "x-failed-recipients").flatMap((value) =>
    addressesIn(value, recipientsMax),
  );
  const [from] = addressesIn(fieldOf(message.fields, "from") ?? "", 1);
  if (failed.length === 0 && !MACHINES.test(from ?? "")) return null;
  const part = [...allParts(message)].find(({ type }) => type === "text/plain");
  const text = (part ?? message).parts.length > 0 ? "" : textOf(part ?? message, textCharsMax);
  const opening = text.slice(0, 4_000).toLowerCase().replace(/\s+/g, " ").replace(/[’`]/g, "'");
  const isDelay = DELAYS.some((words) => opening.includes(words));
  if (!isDelay && failed.length === 0 && !FAILURES.some((words) => opening.includes(words))) return null;

  const action = isDelay ? "delayed" : "failed";
  const lines = linesOf(text);
  const entries = entriesOf(lines, failed);
  const whole = readDiagnostic(lines.join(" "), null);
  if (entries.length === 0) return [{ action, recipients: [], reply: whole, host: null }];
  return entries.slice(0, recipientsMax).map(({ address, said }) => ({
    action,
    recipients: [address],
    // What is said once is said of all.
    reply: said.trim() === "" ? whole : readDiagnostic(said, null),
    host: /\bhost ([\w.-]{1,255})/i.exec(said)?.[1] ?? null,
  }));
}

/** The report's own words, without the returned mail behind them. */
function linesOf(text: string): string[] {
  const lines = text.split("\n", linesMax);
  const end = lines.findIndex((line, index) => index > 0 && COPY.test(line));
  return end === -1 ? lines : lines.slice(0, end);
}

/** Addresses with which lines begin, each with what is said up to the next one; only those in `among`, if there are any. */
function entriesOf(lines: readonly string[], among: readonly string[]): { address: string; said: string }[] {
  const entries = new Map(among.map((address) => [address.toLowerCase(), { address, said: [] as string[] }]));
  let open: { said: string[] } | undefined;
  for (const line of lines) {
    const address = addressAtStart(line);
    const known = address === null ? undefined : entries.get(address.toLowerCase());
    if (address === null || (!known && among.length > 0)) {
      open?.said.push(line);
      continue;
    }
    open = known ?? { said: [] };
    if (!known) entries.set(address.toLowerCase(), { address, said: open.said });
    open.said.push(line.slice(line.indexOf(address) + address.length).replace(/^[>:)\]"' ]+/, ""));
  }
  return [...entries.values()].map(({ address, said }) => ({ address, said: said.join(" ") }));
}

/** `<ann@example.com>:`, `  ann@example.com`, `ann@example.com on Mon, …`, but no sentence that has one in it. */
function addressAtStart(line: string): string | null {
  const found = /^[\s"'(<[]{0,40}([^\s@<>()[\],;:"']{1,64}@[^\s@<>()[\],;:"']{1,255})(?=$|[>:)\]"'\s])/.exec(
    line,
  );
  const address = found?.[1];
  if (address === undefined) return null;
  const rest = line.slice(line.indexOf(address) + address.length).replace(/^[>)\]"']+/, "");
  return /^\s*$|^:|^\s+on\s|^\s+\(|^\s*\.{2,}/.test(rest) ? address.replace(/\.$/, "") : null;
}
