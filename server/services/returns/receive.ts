import type { Deps } from "#server/deps";
import { READ_AGGREGATES } from "#server/mail/aggregate/read";
import { isComplaint } from "#server/mail/bounce/feedback";
import { findReceivers, PARSE_REPORT } from "#server/mail/bounce/read-report";
import type { Action, Report, Reported } from "#server/mail/bounce/report";
import { foldAddress } from "#server/shared/text/fold-address";
import { openReportAddress } from "../domains/report-address";
import { type IgnoredReport, receiveAggregates } from "../reports/receive";
import { queueCopies } from "./copies/queue";
import {
  type Addressed,
  filterByAddress,
  findByMessageId,
  findByToken,
  isFeedbackAddress,
  isSignedAs,
} from "./find";
import { type Recorded, recordOutcome, recordServerReport } from "./record";

/** Why a message, or its report on one recipient, changes nothing. */
export type Ignored =
  | Exclude<Recorded, "recorded">
  | "auto_reply"
  | "unproven"
  | "no_report"
  | "no_complaint"
  | "no_failure"
  | IgnoredReport;

/** The result of a returned message, after it was committed. */
export type Received = {
  kind: Report["kind"] | "aggregate";
  /** Number of deliveries that it changed, or of aggregate reports that it contains. */
  recorded: number;
  /** Why each of its other reports changed nothing. */
  ignored: Ignored[];
};

type ReceiveDeps = Pick<Deps, "hot" | "log" | "wake" | "names" | "recipientTokens" | "threads">;

/** Strangers share the turns: who sent a message is only claimed in it. */
const HOLDER = "returned messages";
const readMsMax = 60_000;
type Delivery = Extract<Report, { kind: "delivery" }>;
type Complaint = Extract<Report, { kind: "complaint" }>;

/**
 * Receives a returned message (bounce, complaint, automatic reply or aggregate reports), records it, and
 * queues the copy of a bounce or of a person's reply. `recipients` are the addresses it was sent to, if they
 * are known independent of its content. A delivery is found by a token of ours that only its copy contained;
 * otherwise by Message-ID and recipient, which never suppresses, and for a complaint only with a header that
 * we signed. A message to an address for reports is read for these only. Null if the bytes are not a message.
 * Throws if the database is unavailable. The message must be submitted again in that case, and if a report
 * has to wait (`later`).
 */
export async function receiveMessage(
  deps: ReceiveDeps,
  message: { bytes: Uint8Array; recipients: readonly string[]; hasNullSender?: boolean },
): Promise<Received | null> {
  // Once, whatever the number of recipients: a stranger chooses both.
  const { bytes, recipients, hasNullSender = false } = message;
  const receivers = recipients.length > 0 ? recipients : findReceivers(bytes);
  const domainIds = new Set(receivers.flatMap((each) => openReportAddress(deps, each) ?? []));
  if (domainIds.size > 0) {
    const aggregates = await deps.threads.read(HOLDER, READ_AGGREGATES, bytes, readMsMax);
    return receivedOf(deps, "aggregate", await receiveAggregates(deps, domainIds, aggregates));
  }
  // The thread that reads a long message owns its bytes.
  const copied = Uint8Array.from(bytes);
  const report = await deps.threads.read(HOLDER, PARSE_REPORT, { bytes, hasNullSender }, readMsMax);
  if (!report) return null;
  const results: (Ignored | "recorded")[] = [];
  for (const recipient of recipients.length > 0 ? recipients : [null])
    results.push(...(await recordReport(deps, report, recipient)));
  await queueCopies(deps, report, { bytes: copied, recipients: receivers });
  return receivedOf(deps, report.kind, results);
}

function receivedOf(
  { log }: ReceiveDeps,
  kind: Received["kind"],
  results: readonly (Ignored | "recorded")[],
): Received {
  const ignored = results.filter((result) => result !== "recorded");
  for (const why of ignored) log.info("return.ignored", { why, kind });
  return { kind, recorded: results.length - ignored.length, ignored };
}

async function recordReport(
  deps: ReceiveDeps,
  report: Report,
  recipient: string | null,
): Promise<(Ignored | "recorded")[]> {
  // Everyone knows this address, so only what proves itself counts there.
  const isFeedback = recipient !== null && isFeedbackAddress(deps, recipient);
  if (isFeedback && report.kind !== "complaint") return ["no_complaint"];
  if (report.kind === "other") return ["no_report"];
  if (report.kind === "complaint" && !isComplaint(report.feedbackType)) return ["no_complaint"];
  const { returnPaths } = report.about;
  const proven = await findByToken(deps, {
    ...report.about,
    returnPaths: recipient === null ? returnPaths : [recipient, ...returnPaths],
  });
  if (proven === "deleted") return ["unknown"];
  if (report.kind === "auto-reply") {
    const reason = "The recipient's address sent an automatic reply.";
    return [proven ? await recordNote(deps, proven, "auto_replied", reason) : "auto_reply"];
  }
  if (report.kind === "complaint")
    return [await (proven ? recordComplaint(deps, report, proven) : recordSigned(deps, report))];
  if (proven !== null) return [await recordProven(deps, report, proven)];
  const results: (Ignored | "recorded")[] = [];
  const all = await findByMessageId(deps.hot, report.about.messageId);
  for (const reported of worstFirst(report.reported)) {
    const [named] = filterByAddress(all, reported.recipients);
    results.push(named ? await recordReportedOf(deps, report, reported, named, false) : "unknown");
  }
  return results.length > 0 ? results : ["no_failure"];
}

/** Records an event that changes nothing else: one for each delivery, or strangers could add them forever. */
const recordNote = (
  deps: ReceiveDeps,
  delivery: Addressed,
  effect: "auto_replied" | "complaint_claimed",
  reason: string,
): Promise<Recorded> => recordOutcome(deps, { delivery, report: effect, effect, reason });

const recordComplaint = (deps: ReceiveDeps, report: Complaint, delivery: Addressed): Promise<Recorded> =>
  recordOutcome(deps, {
    delivery,
    report: report.id,
    effect: "complained",
    reason: `The recipient marked the email as spam (${report.feedbackType}).`,
    suppresses: "complaint",
  });

/**
 * Records a complaint that contains no token: the delivery is found by Message-ID, if the report has a header
 * that we signed. Each recipient of a copy can have sent it, so only one who was alone is proven.
 */
async function recordSigned(deps: ReceiveDeps, report: Complaint): Promise<Recorded | "unproven"> {
  const all = await findByMessageId(deps.hot, report.about.messageId);
  const [first] = all;
  if (!first) return "unknown";
  if (!(await isSignedAs(deps.hot, first, report.signatures))) return "unproven";
  if (all.length === 1) return recordComplaint(deps, report, first);
  const [named] = filterByAddress(all, report.recipients);
  if (!named) return "unknown";
  const reason =
    "A report says that this recipient marked the email as spam. All recipients have the header that it contains, so this is not proven.";
  return recordNote(deps, named, "complaint_claimed", reason);
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
