import { judgeSteps } from "./judge-steps";
import {
  type Call,
  type Copy,
  groupBy,
  type Kill,
  type MailRow,
  type RecipientRow,
  type Records,
} from "./records";

/** What must hold after any sequence of kills, by the names of the design, and one before them. */
export const INVARIANTS = {
  I0: "nothing ends by itself because something else was killed",
  I1: "every mail that was answered 2xx has come to its end",
  I2: "each of its recipients got it",
  I3: "each copy too many has its own unknown on record, with a kill behind it, and the same Message-ID",
  I4: "nothing that was refused exists, nothing that was not answered 2xx exists twice or in parts",
  I5: "the events are append-only, and every change is one of the state graph",
  I6: "no row is left behind in the hands of a worker that is gone",
} as const;
export type Invariant = keyof typeof INVARIANTS;

export type Finding = { invariant: Invariant; what: string };

export type Counts = {
  posted: number;
  accepted: number;
  /** Accepted and not there, by recipient. */
  lost: number;
  delivered: number;
  copiesRecorded: number;
  copiesUnrecorded: number;
  refused: number;
  /** Without a key, and answered 503 or not at all: whoever asked cannot know. */
  inDoubt: number;
  inDoubtKept: number;
  /** Nobody listened at either door. */
  unheard: number;
  /** Requests that were heard and had to be made again under their key. */
  repeated: number;
};

export type Verdict = { findings: Finding[]; counts: Counts };

/** Judges a run by its records alone. Without findings the run has passed. */
export function judge(records: Records): Verdict {
  const findings: Finding[] = judgeSteps(records);
  const note = (invariant: Invariant, what: string) => findings.push({ invariant, what });
  const copiesOf = groupCopies(records.copies);
  const mailsOf = groupBy(records.mails, ({ label }) => label);
  const counts: Counts = {
    posted: records.calls.length,
    accepted: 0,
    lost: 0,
    delivered: 0,
    copiesRecorded: 0,
    copiesUnrecorded: 0,
    refused: 0,
    inDoubt: 0,
    inDoubtKept: 0,
    unheard: 0,
    repeated: 0,
  };

  for (const call of records.calls) {
    const mails = mailsOf.get(call.label) ?? [];
    const [mail] = mails;
    judgeAnswers(call, mail, note);
    if (mails.length > 1) note("I4", `${call.label}: ${mails.length} mails of one call`);
    const wasAccepted = call.tries.some(({ id }) => id !== null);
    const heard = call.tries.filter(({ wasRefused }) => !wasRefused);
    counts.repeated += Math.max(0, heard.length - 1);
    if (heard.length === 0 || call.isRefusable) {
      counts[heard.length === 0 ? "unheard" : "refused"]++;
      if (mail || call.recipients.some((address) => copiesOf.has(address)))
        note("I4", `${call.label}: refused or never heard, and yet it exists`);
      continue;
    }
    if (wasAccepted) counts.accepted++;
    else {
      counts.inDoubt++;
      if (call.key !== null) note("I1", `${call.label}: its key never got an answer`);
      if (!mail) {
        if (call.recipients.some((address) => copiesOf.has(address)))
          note("I4", `${call.label}: never committed, and yet it arrived`);
        continue;
      }
      counts.inDoubtKept++;
    }
    if (!mail) {
      counts.lost += call.recipients.length;
      note("I1", `${call.label}: answered 2xx, and no such mail is there`);
      continue;
    }
    judgeMail(call, mail, copiesOf, records.kills, counts, note);
  }

  const known = new Set(records.calls.flatMap(({ recipients }) => recipients));
  for (const address of copiesOf.keys())
    if (!known.has(address)) note("I4", `${address}: nobody asked for that`);
  if (records.stuck > 0) note("I6", `${records.stuck} rows are still sending`);
  for (const what of records.tampering) note("I5", what);
  for (const what of records.deaths) note("I0", what);
  return { findings, counts };
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

/** A valid call hears 2xx, 503, that its twin is still running, or nothing; an invalid one never 2xx. */
function judgeAnswers(call: Call, mail: MailRow | undefined, note: Note): void {
  for (const { status, id } of call.tries) {
    if (call.isRefusable ? status === 200 : status !== null && ![200, 409, 503].includes(status))
      note("I4", `${call.label}: answered ${status}`);
    if (id !== null && mail && id !== mail.id)
      note("I1", `${call.label}: answered ${id}, kept as ${mail.id}`);
  }
}

function judgeMail(
  call: Call,
  mail: MailRow,
  copiesOf: Map<string, Copy[]>,
  kills: Kill[],
  counts: Counts,
  note: Note,
): void {
  const wanted = [...call.recipients].sort().join();
  const kept = mail.recipients
    .map(({ address }) => address)
    .sort()
    .join();
  if (wanted !== kept || mail.bodies !== 1) note("I4", `${call.label}: committed in parts`);
  if (mail.events.filter(({ type }) => type === "email.queued").length !== 1)
    note("I5", `${call.label}: not exactly one first event`);
  if (call.key !== mail.key) note("I4", `${call.label}: its key and the mail do not belong together`);
  if (mail.status !== "sent") note("I1", `${call.label}: ended as ${mail.status}`);

  for (const recipient of mail.recipients) {
    const copies = copiesOf.get(recipient.address) ?? [];
    if (recipient.status !== "sent") note("I1", `${recipient.address}: ended as ${recipient.status}`);
    if (copies.length === 0) {
      counts.lost++;
      note("I2", `${recipient.address}: lost`);
      continue;
    }
    counts.delivered++;
    judgeCopies(recipient, copies, mail, kills, counts, note);
  }
}

function judgeCopies(
  recipient: RecipientRow,
  copies: Copy[],
  mail: MailRow,
  kills: Kill[],
  counts: Counts,
  note: Note,
): void {
  const unknowns = mail.events.filter(
    ({ type, recipient: address }) => type === "email.unknown" && address === recipient.address,
  );
  const extra = copies.length - 1;
  const recorded = Math.min(extra, unknowns.length);
  counts.copiesRecorded += recorded;
  counts.copiesUnrecorded += extra - recorded;
  if (extra > recorded)
    note("I3", `${recipient.address}: ${copies.length} copies, ${unknowns.length} unknowns on record`);
  for (const { messageId } of copies)
    if (messageId !== mail.messageId) note("I3", `${recipient.address}: a copy is ${messageId}`);
  // The web process has no part in what is handed over, so its death explains nothing.
  for (const { atMs } of unknowns)
    if (!kills.some((kill) => kill.victim !== "web" && kill.atMs <= atMs))
      note("I3", `${recipient.address}: unknown, though nothing had been killed`);
}
