import { foldAddress } from "#db/fold-address";
import { addressOfDelivery } from "#db/returns";
import type { Deps } from "#server/deps";
import { isComplaint } from "#server/mail/bounce/feedback";
import { readReport } from "#server/mail/bounce/read-report";
import type { Action, Report, Reported } from "#server/mail/bounce/report";
import { type Found, findByMessageId, findByToken, openReturnPath } from "./find";
import { type Recorded, recordReturn } from "./record";
import { recordReported } from "./record-reported";

/** Why a message, or what it says of one recipient, changes nothing. */
export type Ignored =
  | Exclude<Recorded, "recorded">
  | "auto_reply"
  | "no_report"
  | "no_complaint"
  | "no_failure";

/** What became of a message that came back, once that is committed. */
export type Received = {
  kind: Report["kind"];
  /** Deliveries that it changed. */
  recorded: number;
  /** What of it changed none, each with why. */
  ignored: Ignored[];
};

type ReceiveDeps = Pick<Deps, "hot" | "log" | "wake" | "recipientTokens">;
type Delivery = Extract<Report, { kind: "delivery" }>;
type Complaint = Extract<Report, { kind: "complaint" }>;

/**
 * Takes in a message that came back, and records what it proves. `recipient` is the address that it came to, where that is
 * known from outside of it. A delivery is found by a token of ours, which only the copy for its recipient held; else by
 * Message-ID and recipient, which never suppresses. Null where the bytes are no message. Throws where the database is away,
 * and then, or where something has to wait (`later`), the message has to be given again.
 */
export async function receiveMessage(
  deps: ReceiveDeps,
  { bytes, recipient }: { bytes: Uint8Array; recipient: string | null },
): Promise<Received | null> {
  const report = readReport(bytes);
  if (!report) return null;
  const results = await recordReport(deps, report, recipient);
  const ignored = results.filter((result) => result !== "recorded");
  for (const why of ignored) deps.log.info("return.ignored", { why, kind: report.kind });
  return { kind: report.kind, recorded: results.length - ignored.length, ignored };
}

async function recordReport(
  deps: ReceiveDeps,
  report: Report,
  recipient: string | null,
): Promise<(Ignored | "recorded")[]> {
  if (report.kind === "auto-reply") return ["auto_reply"];
  if (report.kind === "other") return ["no_report"];
  if (report.kind === "complaint" && !isComplaint(report.feedbackType)) return ["no_complaint"];
  const deliveryId = recipient === null ? null : openReturnPath(deps, recipient);
  const found =
    deliveryId === null ? await findByToken(deps, report.about) : { deliveryId, isProven: true as const };
  if (report.kind === "complaint") return [await recordComplaint(deps, report, found)];
  if (found) return [await recordProven(deps, report, found)];
  const results: (Ignored | "recorded")[] = [];
  for (const reported of worstFirst(report.reported)) {
    const weak = await findByMessageId(deps, report.about.messageId, reported.recipients);
    results.push(weak ? await recordReportedOf(deps, report, reported, weak, false) : "unknown");
  }
  return results.length > 0 ? results : ["no_failure"];
}

async function recordComplaint(
  deps: ReceiveDeps,
  report: Complaint,
  proven: Found | null,
): Promise<Recorded> {
  const found = proven ?? (await findByMessageId(deps, report.about.messageId, report.recipients));
  if (!found) return "unknown";
  return recordReturn(deps, {
    deliveryId: found.deliveryId,
    report: report.id,
    effect: "complained",
    reply: null,
    host: null,
    reason: `The recipient complained about the mail (${report.feedbackType}).`,
    suppresses: found.isProven ? "complaint" : null,
  });
}

const WORST: readonly Action[] = ["failed", "delayed", "delivered", "relayed", "expanded"];

/** What is said of several addresses holds for the one that they belong to in the worst way of all. */
const worstFirst = (reported: readonly Reported[]): Reported[] =>
  [...reported].sort((a, b) => WORST.indexOf(a.action) - WORST.indexOf(b.action));

/** The one delivery of a token: by what is said of its address, or else of those that it was passed on to. */
async function recordProven(
  deps: ReceiveDeps,
  report: Delivery,
  found: Found,
): Promise<Ignored | "recorded"> {
  const address = await addressOfDelivery(deps.hot, found.deliveryId);
  if (address === null) return "unknown";
  const own = foldAddress(address);
  const isOwn = (each: string) => foldAddress(each) === own;
  const named = report.reported.filter(({ recipients }) => recipients.some(isOwn));
  const pool = named.length > 0 ? named : report.reported;
  const [worst] = worstFirst(pool);
  if (!worst) return "no_failure";
  // Where it names another address beside ours, to which ours leads on, it is a word about that one.
  const exact = named.find(({ action, recipients }) => action === worst.action && recipients.every(isOwn));
  const isAboutIt = exact !== undefined || worst.recipients.length === 0;
  return recordReportedOf(deps, report, exact ?? worst, found, isAboutIt);
}

async function recordReportedOf(
  deps: ReceiveDeps,
  report: Delivery,
  reported: Reported,
  { deliveryId, isProven }: Found,
  isAboutIt: boolean,
): Promise<Ignored | "recorded"> {
  const about = { deliveryId, report: report.id, reported, maySuppress: isProven && isAboutIt };
  return (await recordReported(deps, about)) ?? "no_failure";
}
