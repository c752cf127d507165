import type { Deps } from "#server/deps";
import { isComplaint } from "#server/mail/bounce/feedback";
import { PARSE_REPORT } from "#server/mail/bounce/read-report";
import type { Action, Report, Reported } from "#server/mail/bounce/report";
import { foldAddress } from "#server/shared/text/fold-address";
import { type Addressed, filterByAddress, findByMessageId, findByToken } from "./find";
import { type Recorded, recordOutcome, recordServerReport } from "./record";

/** Why a message, or its report on one recipient, changes nothing. */
export type Ignored =
  | Exclude<Recorded, "recorded">
  | "auto_reply"
  | "no_report"
  | "no_complaint"
  | "no_failure";

/** The result of a returned message, after it was committed. */
export type Received = {
  kind: Report["kind"];
  /** Number of deliveries that it changed. */
  recorded: number;
  /** Why each of its other reports changed nothing. */
  ignored: Ignored[];
};

type ReceiveDeps = Pick<Deps, "hot" | "log" | "wake" | "recipientTokens" | "threads">;

/** Strangers share the turns: who sent a message is only claimed in it. */
const HOLDER = "returned messages";
const readMsMax = 60_000;
type Delivery = Extract<Report, { kind: "delivery" }>;
type Complaint = Extract<Report, { kind: "complaint" }>;

/**
 * Receives a returned message (bounce or complaint) and records it. `recipients` are the addresses it was
 * sent to, if they are known independent of its content. A delivery is found by a token of ours that only its
 * copy contained; otherwise by Message-ID and recipient, which never suppresses. Null if the bytes are not a
 * message. Throws if the database is unavailable. The message must be submitted again in that case, and if a
 * report has to wait (`later`).
 */
export async function receiveMessage(
  deps: ReceiveDeps,
  message: { bytes: Uint8Array; recipients: readonly string[]; hasNullSender?: boolean },
): Promise<Received | null> {
  // Once, whatever the number of recipients: a stranger chooses both.
  const { bytes, recipients, hasNullSender = false } = message;
  const report = await deps.threads.read(HOLDER, PARSE_REPORT, { bytes, hasNullSender }, readMsMax);
  if (!report) return null;
  const results: (Ignored | "recorded")[] = [];
  for (const recipient of recipients.length > 0 ? recipients : [null])
    results.push(...(await recordReport(deps, report, recipient)));
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
  const { returnPaths, unsubscribeLinks } = report.about;
  const proven = await findByToken(deps, {
    returnPaths: recipient === null ? returnPaths : [recipient, ...returnPaths],
    unsubscribeLinks,
  });
  if (proven === "deleted") return ["unknown"];
  if (report.kind === "complaint") return [await recordComplaint(deps, report, proven)];
  if (proven !== null) return [await recordProven(deps, report, proven)];
  const results: (Ignored | "recorded")[] = [];
  for (const reported of worstFirst(report.reported)) {
    const [named] = await findNamed(deps, report, reported.recipients);
    results.push(named ? await recordReportedOf(deps, report, reported, named, false) : "unknown");
  }
  return results.length > 0 ? results : ["no_failure"];
}

const findNamed = async (
  { hot }: ReceiveDeps,
  { about }: Delivery | Complaint,
  addresses: readonly string[],
) => filterByAddress(await findByMessageId(hot, about.messageId), addresses);

async function recordComplaint(
  deps: ReceiveDeps,
  report: Complaint,
  proven: Addressed | null,
): Promise<Recorded> {
  const delivery = proven ?? (await findNamed(deps, report, report.recipients))[0];
  if (delivery === undefined) return "unknown";
  return recordOutcome(deps, {
    delivery,
    report: report.id,
    effect: "complained",
    reply: null,
    host: null,
    reason: `The recipient marked the email as spam (${report.feedbackType}).`,
    suppresses: proven === null ? null : "complaint",
  });
}

const WORST_FIRST: readonly Action[] = ["failed", "delayed", "delivered", "relayed", "expanded"];

/** Of several reports on one delivery, the worst one counts. */
const worstFirst = (reported: readonly Reported[]): Reported[] =>
  [...reported].sort((a, b) => WORST_FIRST.indexOf(a.action) - WORST_FIRST.indexOf(b.action));

/**
 * Records a report on a delivery found by its token: the report on its address, or else on the addresses it
 * forwards to.
 */
async function recordProven(
  deps: ReceiveDeps,
  report: Delivery,
  delivery: Addressed,
): Promise<Ignored | "recorded"> {
  const own = foldAddress(delivery.address);
  const isOwn = (each: string) => foldAddress(each) === own;
  const named = report.reported.filter(({ recipients }) => recipients.some(isOwn));
  const pool = named.length > 0 ? named : report.reported;
  const [worst] = worstFirst(pool);
  if (!worst) return "no_failure";
  // A report that also names an address to which ours forwards is about that address.
  const exact = named.find(({ action, recipients }) => action === worst.action && recipients.every(isOwn));
  const isExact = exact !== undefined || worst.recipients.length === 0;
  return recordReportedOf(deps, report, exact ?? worst, delivery, isExact);
}

async function recordReportedOf(
  deps: ReceiveDeps,
  report: Delivery,
  reported: Reported,
  delivery: Addressed,
  maySuppress: boolean,
): Promise<Ignored | "recorded"> {
  const about = { delivery, report: report.id, reported, maySuppress };
  return (await recordServerReport(deps, about)) ?? "no_failure";
}
