import { type Finding, type Invariant, judge } from "./judge";
import type { EmailRow, Records } from "./records";

/** A violation, injected into a copy of true records, and the invariant that must detect it. */
type Violation = { name: string; breaks: Invariant; commit(records: Records): void };

const VIOLATIONS: readonly Violation[] = [
  {
    name: "a recipient's only copy was not delivered",
    breaks: "I2",
    commit: ({ copies }) => {
      const address = copies[0]?.recipients[0] ?? "";
      for (const copy of copies) copy.recipients = copy.recipients.filter((one) => one !== address);
    },
  },
  {
    name: "an email with a 2xx response is not in the database",
    breaks: "I1",
    commit: (records) => {
      const accepted = records.calls.find(({ tries }) => tries.some(({ id }) => id !== null));
      records.emails = records.emails.filter(({ label }) => label !== accepted?.label);
    },
  },
  {
    name: "a recipient got a second copy without a recorded unknown outcome",
    breaks: "I3",
    commit: ({ copies, emails }) => {
      const isKnown = (one: EmailRow) => one.events.every(({ type }) => type !== "email.unknown");
      const email = emails.find(
        (one) => isKnown(one) && copies.some(({ messageId }) => messageId === one.messageId),
      );
      const copy = copies.find(({ messageId }) => messageId === email?.messageId);
      if (copy) copies.push(structuredClone(copy));
    },
  },
  {
    name: "an outcome is unknown without any fault",
    breaks: "I3",
    commit: (records) => {
      const { emails, steps } = records;
      const [email] = emails.filter(({ recipients }) => recipients.some(({ attempts }) => attempts === 1));
      const recipient = email?.recipients.find(({ attempts }) => attempts === 1);
      if (!email || !recipient) return;
      // The result of its only attempt, which has no fault near it.
      email.events.push({ type: "email.unknown", recipient: recipient.address, attempt: 1, atMs: 1_000 });
      for (const step of steps) if (step.deliveryId === recipient.id) step.atMs = 1_000;
    },
  },
  {
    name: "a scheduled email was delivered before its time",
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
      hooks.withoutOutboxRow += 1;
    },
  },
  {
    name: "an endpoint did not receive an event",
    breaks: "I7",
    commit: ({ hooks }) => void hooks.unreceived.push("email.queued was never delivered"),
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
    name: "a rejected email was delivered",
    breaks: "I4",
    commit: ({ calls, copies }) => {
      const [copy] = copies;
      const refused = calls.find(({ isRefusable }) => isRefusable);
      if (copy && refused) copies.push({ ...copy, recipients: refused.recipients });
    },
  },
  {
    name: "one call created two emails",
    breaks: "I4",
    commit: ({ emails }) => {
      const [email] = emails;
      if (email) emails.push({ ...structuredClone(email), id: "another" });
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
    name: "a row was still claimed at the end",
    breaks: "I6",
    commit: (records) => {
      records.stuck += 1;
    },
  },
  {
    name: "a restored installation sent email that it holds",
    breaks: "I3",
    commit: ({ copies, restored }) => {
      const [copy] = copies;
      if (!copy) return;
      const client = "restored.chaos.example";
      restored.push({ client, decisions: [], held: copy.recipients, released: [], own: [] });
      copies.push({ ...copy, client });
    },
  },
  {
    name: "an event was changed",
    breaks: "I5",
    commit: ({ tampering }) => void tampering.push("UPDATE on email_events"),
  },
  {
    name: "a process ended because another one was killed",
    breaks: "I0",
    commit: ({ exits }) => void exits.push("web"),
  },
];

/** Plants every violation, one at a time, and returns those that the judge did not detect. */
export function missedViolations(all: Records): string[] {
  const records = sampleOf(all);
  const before = judge(records).findings;
  const detected = (findings: readonly Finding[], breaks: Invariant) =>
    JSON.stringify(findings.filter(({ invariant }) => invariant === breaks));
  return VIOLATIONS.filter(({ breaks, commit }) => {
    const injected = structuredClone(records);
    commit(injected);
    return detected(judge(injected).findings, breaks) === detected(before, breaks);
  }).map(({ name }) => name);
}

const sampleMax = 2_000;

/** The first emails with all their records: a violation that is detected among them is detected among all. */
function sampleOf(records: Records): Records {
  const calls = records.calls.slice(0, sampleMax);
  const labels = new Set(calls.map(({ label }) => label));
  const addresses = new Set(calls.flatMap(({ recipients }) => recipients));
  const emails = records.emails.filter(({ label }) => labels.has(label));
  const ids = new Set(emails.flatMap(({ recipients }) => recipients.map(({ id }) => id)));
  return {
    ...records,
    calls,
    emails,
    steps: records.steps.filter(({ deliveryId }) => ids.has(deliveryId)),
    copies: records.copies.filter(({ recipients }) => recipients.some((address) => addresses.has(address))),
  };
}

export const violationsCount = VIOLATIONS.length;
