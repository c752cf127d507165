import { expectedOf } from "./internet";
import { createReleasedCheck, judgeRestored } from "./judge-restored";
import { judgeSteps } from "./judge-steps";
import { type Call, type Copy, type EmailRow, groupBy, type RecipientRow, type Records } from "./records";

/** What must hold after any sequence of faults. */
export const INVARIANTS = {
  I0: "no process exits because of a fault elsewhere, and the additional condition of each fault holds",
  I1: "every email with a 2xx response has a final status",
  I2: "each of its recipients received it, not before its time",
  I3: "each duplicate has its own recorded unknown outcome, with a fault between its hand-over and its result, and the same Message-ID",
  I4: "no rejected email exists, and no email without a 2xx exists twice or in parts",
  I5: "events are append-only, and every change is in the state graph",
  I6: "no row is still claimed by a worker that no longer runs",
  I7: "each event is delivered to the endpoint that subscribes to it, with one body",
} as const;
export type Invariant = keyof typeof INVARIANTS;

export type Finding = { invariant: Invariant; what: string };

export type Counts = {
  posted: number;
  accepted: number;
  /** Accepted and missing, by recipient. */
  lost: number;
  /**
   * Recipients whose email was delivered, and those whose email was rejected or undeliverable, as expected.
   */
  delivered: number;
  refusedThere: number;
  copiesRecorded: number;
  copiesUnrecorded: number;
  /** Events with an unknown outcome. */
  unknowns: number;
  refused: number;
  /** Without a key, and with a 503 or no response: the caller cannot know. */
  inDoubt: number;
  inDoubtKept: number;
  /** The connection to both web processes was refused. */
  unreceived: number;
  /** Requests that were received and had to be repeated with their key. */
  repeated: number;
};

/** The findings, and the counts of the emails that were requested during each fault. */
export type Verdict = { findings: Finding[]; counts: Map<string, Counts> };

const NOTHING: Counts = {
  posted: 0,
  accepted: 0,
  lost: 0,
  delivered: 0,
  refusedThere: 0,
  copiesRecorded: 0,
  copiesUnrecorded: 0,
  unknowns: 0,
  refused: 0,
  inDoubt: 0,
  inDoubtKept: 0,
  unreceived: 0,
  repeated: 0,
};

/** The sum of some counts. */
export function sumOf(all: Iterable<Counts>): Counts {
  const sum = { ...NOTHING };
  for (const counts of all)
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  return sum;
}

/** Judges a run by its records only. Without findings the run has passed. */
export function judge(records: Records): Verdict {
  const findings: Finding[] = [...judgeSteps(records), ...judgeRestored(records)];
  const note = (invariant: Invariant, what: string) => findings.push({ invariant, what });
  const isReleasedCopy = createReleasedCheck(records);
  const copiesOf = groupCopies(records.copies.filter((copy) => !isReleasedCopy(copy)));
  const emailsOf = groupBy(records.emails, ({ label }) => label);
  const byRow = new Map<string, Counts>();
  for (const call of records.calls) {
    const counts = byRow.get(call.row) ?? { ...NOTHING };
    byRow.set(call.row, counts);
    judgeCall(call, emailsOf.get(call.label) ?? [], copiesOf, counts, note);
  }
  const known = new Set(records.calls.flatMap(({ recipients }) => recipients));
  for (const address of copiesOf.keys())
    if (!known.has(address)) note("I4", `${address}: an unexpected recipient`);
  if (records.stuck > 0) note("I6", `${records.stuck} rows are still sending`);
  for (const what of records.tampering) note("I5", what);
  for (const what of records.exits) note("I0", what);
  for (const { row, what } of records.faultFindings) note("I0", `${row}: ${what}`);
  const { withoutOutboxRow, undelivered, unreceived, changed } = records.hooks;
  if (withoutOutboxRow > 0) note("I7", `${withoutOutboxRow} events have not exactly one row in the outbox`);
  for (const what of [...undelivered, ...unreceived]) note("I7", what);
  for (const id of changed) note("I7", `${id} came with different bodies`);
  return { findings, counts: byRow };
}

function judgeCall(
  call: Call,
  emails: EmailRow[],
  copiesOf: Map<string, Copy[]>,
  counts: Counts,
  note: Note,
): void {
  const [email] = emails;
  counts.posted++;
  judgeAnswers(call, email, note);
  if (emails.length > 1) note("I4", `${call.label}: ${emails.length} emails of one call`);
  const wasAccepted = call.tries.some(({ id }) => id !== null);
  const received = call.tries.filter(({ wasRefused }) => !wasRefused);
  counts.repeated += Math.max(0, received.length - 1);
  if (received.length === 0 || call.isRefusable) {
    counts[received.length === 0 ? "unreceived" : "refused"]++;
    if (email || call.recipients.some((address) => copiesOf.has(address)))
      note("I4", `${call.label}: rejected or never received, but it exists`);
    return;
  }
  if (wasAccepted) counts.accepted++;
  else {
    counts.inDoubt++;
    if (call.key !== null) note("I1", `${call.label}: its key never got a response`);
    if (!email) {
      if (call.recipients.some((address) => copiesOf.has(address)))
        note("I4", `${call.label}: never committed, but it was delivered`);
      return;
    }
    counts.inDoubtKept++;
  }
  if (!email) {
    counts.lost += call.recipients.length;
    note("I1", `${call.label}: got 2xx, but the email does not exist`);
    return;
  }
  judgeEmail(call, email, copiesOf, counts, note);
}

type Note = (invariant: Invariant, what: string) => void;

function groupCopies(copies: Copy[]): Map<string, Copy[]> {
  const byAddress = new Map<string, Copy[]>();
  for (const copy of copies)
    for (const address of copy.recipients) {
      const known = byAddress.get(address);
      if (known) known.push(copy);
      else byAddress.set(address, [copy]);
    }
  return byAddress;
}

const ANSWERS = [200, 409, 503];

/** A valid request gets 2xx, 503, 409 for a running duplicate, or no response; an invalid one never 2xx. */
function judgeAnswers(call: Call, email: EmailRow | undefined, note: Note): void {
  for (const { status, id } of call.tries) {
    if (call.isRefusable ? status === 200 : status !== null && !ANSWERS.includes(status))
      note("I4", `${call.label}: answered ${status}`);
    if (id !== null && email && id !== email.id)
      note("I1", `${call.label}: the response was ${id}, stored as ${email.id}`);
  }
}

/** The allowed final statuses of a recipient, by the behavior of its server. */
const ENDS = {
  arrives: ["sent", "delivered"],
  bounces: ["bounced"],
  fails: ["failed"],
  returns: ["bounced"],
} as const;

function judgeEmail(
  call: Call,
  email: EmailRow,
  copiesOf: Map<string, Copy[]>,
  counts: Counts,
  note: Note,
): void {
  const wanted = [...call.recipients].sort().join();
  const kept = email.recipients
    .map(({ address }) => address)
    .sort()
    .join();
  if (wanted !== kept || email.bodies !== 1) note("I4", `${call.label}: committed in parts`);
  const first = call.scheduledAtMs === null ? "email.queued" : "email.scheduled";
  if (email.events.filter(({ type }) => type === first).length !== 1)
    note("I5", `${call.label}: not exactly one first event`);
  if (call.key !== email.key) note("I4", `${call.label}: its key and the email do not match`);
  const worst = WORST_FIRST.find((status) => email.recipients.some((one) => one.status === status));
  if (email.status !== worst)
    note("I1", `${call.label}: is ${email.status}, but its worst recipient is ${worst ?? "not final"}`);

  for (const recipient of email.recipients) {
    const { address, status } = recipient;
    const expected = expectedOf(address);
    const copies = copiesOf.get(address) ?? [];
    if (!ENDS[expected].some((end) => end === status)) note("I1", `${address}: ended as ${status}`);
    if (expected === "bounces" || expected === "fails") {
      counts.refusedThere++;
      if (copies.length > 0) note("I4", `${address}: rejected, but it was delivered`);
      continue;
    }
    if (copies.length === 0) {
      counts.lost++;
      note("I2", `${address}: lost`);
      continue;
    }
    for (const { writtenAtMs } of copies)
      if (call.scheduledAtMs !== null && writtenAtMs < call.scheduledAtMs)
        note("I2", `${address}: ${call.scheduledAtMs - writtenAtMs} ms before its time`);
    counts.delivered++;
    judgeCopies(recipient, copies, email, counts, note);
  }
}

/** The summary of an email is that of its worst recipient. */
const WORST_FIRST = ["complained", "bounced", "failed", "unknown", "sent", "delivered", "suppressed"];

function judgeCopies(
  recipient: RecipientRow,
  copies: Copy[],
  email: EmailRow,
  counts: Counts,
  note: Note,
): void {
  const unknowns = email.events.filter(
    ({ type, recipient: address }) => type === "email.unknown" && address === recipient.address,
  );
  const extra = copies.length - 1;
  const recorded = Math.min(extra, unknowns.length);
  counts.unknowns += unknowns.length;
  counts.copiesRecorded += recorded;
  counts.copiesUnrecorded += extra - recorded;
  if (extra > recorded)
    note("I3", `${recipient.address}: ${copies.length} copies, ${unknowns.length} recorded unknown outcomes`);
  for (const { messageId } of copies)
    if (messageId !== email.messageId) note("I3", `${recipient.address}: a copy is ${messageId}`);
}
