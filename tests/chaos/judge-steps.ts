import type { Finding } from "./judge";
import { groupBy, type Kill, type Records, type State, type Step } from "./records";

/** The changes of a delivery's status that this run may show, as the state graph has them. */
const GRAPH: Readonly<Record<string, readonly string[]>> = {
  queued: ["sending"],
  sending: ["queued", "sent", "unknown", "failed"],
};

/** What may follow what in the events of one recipient. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  "email.queued": ["email.unknown", "email.delivery_delayed", "email.sent"],
  "email.unknown": ["email.unknown", "email.delivery_delayed", "email.sent"],
  "email.delivery_delayed": ["email.unknown", "email.delivery_delayed", "email.sent"],
  "email.sent": [],
};

/** Judges what happened to each delivery, step by step, and the order of its events. */
export function judgeSteps(records: Records): Finding[] {
  const findings: Finding[] = [];
  const note = (invariant: Finding["invariant"], what: string) => findings.push({ invariant, what });
  for (const [deliveryId, steps] of groupBy(records.steps, (step) => step.deliveryId)) {
    const claims = new Set<number>();
    let handedOver: Step | null = null;
    for (const [index, step] of steps.entries()) {
      const { from, to } = step;
      const before = steps[index - 1]?.to ?? null;
      if (JSON.stringify(from) !== JSON.stringify(before))
        note("I5", `${deliveryId}: a change without a record`);
      if (!isLegal(from, to)) note("I5", `${deliveryId}: ${describe(from)} to ${describe(to)}`);
      if (isClaim(from, to)) {
        if (claims.has(to.attempts)) note("I5", `${deliveryId}: attempt ${to.attempts} was claimed twice`);
        claims.add(to.attempts);
        handedOver = null;
      }
      // The next claim has the same number.
      if (from && isRelease(from, to)) claims.delete(from.attempts);
      if (to.stage === "handed_over") handedOver = step;
    }
    if (handedOver === null) note("I5", `${deliveryId}: never handed over`);
  }
  judgeUnknowns(records, note);
  judgeEvents(records, note);
  return findings;
}

const isClaim = (from: State | null, to: State): boolean =>
  from?.status === "queued" && to.status === "sending";

function isLegal(from: State | null, to: State): boolean {
  if (from === null) return to.status === "queued" && to.attempts === 0;
  if (from.status === "sending" && to.status === "sending")
    return from.stage === "claimed" && to.stage === "handed_over" && from.leaseToken === to.leaseToken;
  if (!GRAPH[from.status]?.includes(to.status)) return false;
  if (to.status === "sending")
    return to.stage === "claimed" && to.attempts === from.attempts + 1 && to.leaseToken !== null;
  const isBack = to.stage === "idle" && to.leaseToken === null;
  return isBack && (to.attempts === from.attempts || isRelease(from, to));
}

/** Given back by the worker that held it: no word was said, and the attempt is not counted. */
const isRelease = (from: State, to: State): boolean =>
  from.status === "sending" && to.status === "queued" && to.attempts === from.attempts - 1;

const describe = (state: State | null): string =>
  state === null ? "nothing" : `${state.status}/${state.stage}/${state.attempts}`;

/** Each return from the hands of a worker without a result needs a kill between hand-over and return. */
function judgeUnknowns(records: Records, note: (invariant: "I3", what: string) => void): void {
  const causes = records.kills.filter(({ victim }) => victim !== "web");
  for (const [deliveryId, steps] of groupBy(records.steps, (step) => step.deliveryId)) {
    for (const [index, step] of steps.entries()) {
      const { from, to } = step;
      if (from?.stage !== "handed_over" || to.status === "sent" || isRelease(from, to)) continue;
      const begun = steps[index - 1];
      if (!begun || !isBetween(causes, begun.atMs, step.atMs))
        note("I3", `${deliveryId}: became ${to.status} after its hand-over, and nothing had been killed`);
    }
  }
}

/** Clocks of two processes of one machine, and a commit a moment after the trigger has looked at the clock. */
const toleranceMs = 50;

const isBetween = (kills: Kill[], fromMs: number, toMs: number): boolean =>
  kills.some(({ atMs }) => atMs >= fromMs - toleranceMs && atMs <= toMs + toleranceMs);

function judgeEvents(records: Records, note: (invariant: "I5", what: string) => void): void {
  for (const { label, events } of records.mails) {
    const recipients = new Set(
      events.map(({ recipient }) => recipient).filter((address) => address !== null),
    );
    if (events[0]?.type !== "email.queued") note("I5", `${label}: its first event is ${events[0]?.type}`);
    for (const address of recipients) {
      let last = "email.queued";
      for (const { type, recipient } of events) {
        if (recipient !== address) continue;
        if (!AFTER[last]?.includes(type)) note("I5", `${address}: ${type} after ${last}`);
        last = type;
      }
    }
  }
}
