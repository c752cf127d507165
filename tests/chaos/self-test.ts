import { type Finding, type Invariant, judge } from "./judge";
import type { MailRow, Records } from "./records";

/** A crime, planted into a copy of true records, and the invariant that has to notice it. */
type Crime = { name: string; breaks: Invariant; commit(records: Records): void };

const CRIMES: readonly Crime[] = [
  {
    name: "a recipient's only copy never arrived",
    breaks: "I2",
    commit: ({ copies }) => {
      const address = copies[0]?.recipients[0] ?? "";
      for (const copy of copies) copy.recipients = copy.recipients.filter((one) => one !== address);
    },
  },
  {
    name: "a mail answered 2xx is not in the database",
    breaks: "I1",
    commit: (records) => {
      const accepted = records.calls.find(({ tries }) => tries.some(({ id }) => id !== null));
      records.mails = records.mails.filter(({ label }) => label !== accepted?.label);
    },
  },
  {
    name: "a recipient got a second copy and no unknown is on record",
    breaks: "I3",
    commit: ({ copies, mails }) => {
      const isKnown = (one: MailRow) => one.events.every(({ type }) => type !== "email.unknown");
      const mail = mails.find(
        (one) => isKnown(one) && copies.some(({ messageId }) => messageId === one.messageId),
      );
      const copy = copies.find(({ messageId }) => messageId === mail?.messageId);
      if (copy) copies.push(structuredClone(copy));
    },
  },
  {
    name: "an outcome is unknown, and nothing had happened to anybody",
    breaks: "I3",
    commit: (records) => {
      const { mails, steps } = records;
      const [mail] = mails.filter(({ recipients }) => recipients.some(({ attempts }) => attempts === 1));
      const recipient = mail?.recipients.find(({ attempts }) => attempts === 1);
      if (!mail || !recipient) return;
      // The last word on its one attempt, of which every fault is far away.
      mail.events.push({ type: "email.unknown", recipient: recipient.address, attempt: 1, atMs: 1_000 });
      for (const step of steps) if (step.deliveryId === recipient.id) step.atMs = 1_000;
    },
  },
  {
    name: "a scheduled mail came before its time",
    breaks: "I2",
    commit: ({ calls, copies }) => {
      const [copy] = copies;
      const call = calls.find(({ recipients }) => recipients.some((one) => copy?.recipients.includes(one)));
      if (call && copy) call.scheduledAtMs = copy.writtenAtMs + 1_000;
    },
  },
  {
    name: "an event has no row in the outbox",
    breaks: "I7",
    commit: ({ hooks }) => {
      hooks.unannounced += 1;
    },
  },
  {
    name: "an endpoint was not told",
    breaks: "I7",
    commit: ({ hooks }) => void hooks.unheard.push("email.queued was never taken"),
  },
  {
    name: "a copy has another Message-ID",
    breaks: "I3",
    commit: ({ copies }) => {
      const [copy] = copies;
      if (copy) copy.messageId = "another@chaos.example";
    },
  },
  {
    name: "a refused mail was delivered",
    breaks: "I4",
    commit: ({ calls, copies }) => {
      const [copy] = copies;
      const refused = calls.find(({ isRefusable }) => isRefusable);
      if (copy && refused) copies.push({ ...copy, recipients: refused.recipients });
    },
  },
  {
    name: "one call made two mails",
    breaks: "I4",
    commit: ({ mails }) => {
      const [mail] = mails;
      if (mail) mails.push({ ...structuredClone(mail), id: "another" });
    },
  },
  {
    name: "one attempt was claimed twice",
    breaks: "I5",
    commit: ({ steps }) => {
      const index = steps.findIndex(({ to }) => to.stage === "claimed");
      const claim = steps[index];
      if (claim) steps.splice(index, 0, structuredClone(claim));
    },
  },
  {
    name: "a row was left behind",
    breaks: "I6",
    commit: (records) => {
      records.stuck += 1;
    },
  },
  {
    name: "an event was altered",
    breaks: "I5",
    commit: ({ tampering }) => void tampering.push("UPDATE on email_events"),
  },
  {
    name: "a process died of another's death",
    breaks: "I0",
    commit: ({ deaths }) => void deaths.push("web"),
  },
];

/** Plants every crime, one at a time, and names those that the judge did not see. */
export function missedCrimes(all: Records): string[] {
  const records = sampleOf(all);
  const before = judge(records).findings;
  const noticed = (findings: readonly Finding[], breaks: Invariant) =>
    JSON.stringify(findings.filter(({ invariant }) => invariant === breaks));
  return CRIMES.filter(({ breaks, commit }) => {
    const planted = structuredClone(records);
    commit(planted);
    return noticed(judge(planted).findings, breaks) === noticed(before, breaks);
  }).map(({ name }) => name);
}

const sampleMax = 2_000;

/** The first mails with everything about them: what is seen among them is seen among all. */
function sampleOf(records: Records): Records {
  const calls = records.calls.slice(0, sampleMax);
  const labels = new Set(calls.map(({ label }) => label));
  const addresses = new Set(calls.flatMap(({ recipients }) => recipients));
  const mails = records.mails.filter(({ label }) => labels.has(label));
  const ids = new Set(mails.flatMap(({ recipients }) => recipients.map(({ id }) => id)));
  return {
    ...records,
    calls,
    mails,
    steps: records.steps.filter(({ deliveryId }) => ids.has(deliveryId)),
    copies: records.copies.filter(({ recipients }) => recipients.some((address) => addresses.has(address))),
  };
}

export const crimesCount = CRIMES.length;
