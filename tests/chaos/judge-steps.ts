import { expectedOf } from "./internet";
import type { Finding } from "./judge";
import { type EmailRow, groupBy, type Records, type State, type Step } from "./records";

/** The changes of a delivery's status that are allowed in this run, as in the state graph. */
const GRAPH: Readonly<Record<string, readonly string[]>> = {
  queued: ["sending"],
  scheduled: ["sending"],
  sending: ["queued", "sent", "delivered", "bounced", "unknown", "failed"],
  sent: ["bounced"],
  delivered: ["bounced"],
};

/** The allowed order of the events of one recipient. */
const ENDINGS = ["email.sent", "email.bounced", "email.failed"];
const ATTEMPTED = ["email.unknown", "email.delivery_delayed", ...ENDINGS];
const AFTER: Readonly<Record<string, readonly string[]>> = {
  "email.queued": ATTEMPTED,
  "email.unknown": ATTEMPTED,
  "email.delivery_delayed": ATTEMPTED,
  "email.sent": ["email.delivered", "email.bounced"],
  "email.delivered": ["email.bounced"],
  "email.bounced": [],
  "email.failed": [],
};

/** Checks each delivery step by step, and the order of its events. */
export function judgeSteps(records: Records): Finding[] {
  const findings: Finding[] = [];
  const note = (invariant: Finding["invariant"], what: string) => findings.push({ invariant, what });
  for (const [deliveryId, steps] of groupBy(records.steps, (step) => step.deliveryId)) {
    const claims = new Set<number>();
    let isHandedOver = false;
    for (const [index, step] of steps.entries()) {
      const { from, to } = step;
      const before = steps[index - 1]?.to ?? null;
      if (JSON.stringify(from) !== JSON.stringify(before))
        note("I5", `${deliveryId}: a change without a record`);
      if (!isAllowed(from, to)) note("I5", `${deliveryId}: ${describe(from)} to ${describe(to)}`);
      if (isClaim(from, to)) {
        if (claims.has(to.attempts)) note("I5", `${deliveryId}: attempt ${to.attempts} was claimed twice`);
        claims.add(to.attempts);
        isHandedOver = false;
      }
      // The next claim has the same number.
      if (from && isRelease(from, to)) claims.delete(from.attempts);
      if (to.stage === "handed_over") isHandedOver = true;
    }
    if (!isHandedOver) note("I5", `${deliveryId}: never handed over`);
  }
  judgeUnknowns(records, note);
  judgeEvents(records, note);
  return findings;
}

const isClaim = (from: State | null, to: State): boolean =>
  (from?.status === "queued" || from?.status === "scheduled") && to.status === "sending";

function isAllowed(from: State | null, to: State): boolean {
  if (from === null) return (to.status === "queued" || to.status === "scheduled") && to.attempts === 0;
  if (from.status === "sending" && to.status === "sending")
    return from.stage === "claimed" && to.stage === "handed_over" && from.leaseToken === to.leaseToken;
  if (!GRAPH[from.status]?.includes(to.status)) return false;
  if (to.status === "sending")
    return to.stage === "claimed" && to.attempts === from.attempts + 1 && to.leaseToken !== null;
  const isReturned = to.stage === "idle" && to.leaseToken === null;
  return isReturned && (to.attempts === from.attempts || isRelease(from, to));
}

/** Released by the worker that held it: no SMTP command was sent, and the attempt is not counted. */
const isRelease = (from: State, to: State): boolean =>
  from.status === "sending" && to.status === "queued" && to.attempts === from.attempts - 1;

const describe = (state: State | null): string =>
  state === null ? "nothing" : `${state.status}/${state.stage}/${state.attempts}`;

/** Steps of a dialogue after which the outcome is unknown if the server disconnects. */
const UNCERTAIN_STEPS = ["body", "dot"];

/**
 * Every attempt that was handed over has a recorded result, or was released. An unknown result requires a
 * fault between the hand-over and the result: of its worker, of PostgreSQL, or of the recipient's server.
 */
function judgeUnknowns(records: Records, note: (invariant: "I3" | "I5", what: string) => void): void {
  const stepsOf = groupBy(records.steps, (step) => step.deliveryId);
  const serverFaultsOf = new Map<string, number[]>();
  for (const { step, recipients, atMs } of records.serverFaults)
    for (const address of UNCERTAIN_STEPS.includes(step) ? recipients : [])
      serverFaultsOf.set(address, [...(serverFaultsOf.get(address) ?? []), atMs]);
  const isExplained = (address: string, { by, atMs }: Step, endMs: number): boolean =>
    records.disturbances.some(
      ({ who, fromMs, toMs }) =>
        (who === by || who === "postgres") &&
        fromMs <= endMs + toleranceMs &&
        (toMs ?? Number.POSITIVE_INFINITY) >= atMs - toleranceMs,
    ) ||
    (serverFaultsOf.get(address) ?? []).some((ms) => ms >= atMs - toleranceMs && ms <= endMs + toleranceMs);

  for (const email of records.emails)
    for (const { id, address } of email.recipients) {
      const results = resultsOf(email, address);
      const steps = stepsOf.get(id) ?? [];
      for (const [index, { from, to, atMs }] of steps.entries()) {
        if (from?.stage !== "handed_over" || isRelease(from, to)) continue;
        const result = results.get(from.attempts);
        if (result === undefined) note("I5", `${address}: attempt ${from.attempts} has no recorded result`);
        const started = steps[index - 1];
        if (result === "email.unknown" && (!started || !isExplained(address, started, atMs)))
          note("I3", `${address}: unknown after attempt ${from.attempts}, without a fault`);
      }
    }
}

/** The result of each attempt for one recipient. */
function resultsOf(email: EmailRow, address: string): Map<number, string> {
  const results = new Map<number, string>();
  for (const { type, recipient, attempt } of email.events)
    if (recipient === address && attempt !== null) results.set(attempt, type);
  return results;
}

/** The clocks of two processes of one machine, and a commit that follows the trigger's timestamp. */
const toleranceMs = 50;

function judgeEvents(records: Records, note: (invariant: "I5", what: string) => void): void {
  for (const { label, events } of records.emails) {
    const first = events[0]?.type;
    if (first !== "email.queued" && first !== "email.scheduled")
      note("I5", `${label}: its first event is ${first}`);
    const last = new Map<string, string>();
    for (const { type, recipient } of events) {
      if (recipient === null) continue;
      const before = last.get(recipient) ?? "email.queued";
      // An event with the time at which its statement began, which may have waited for the result.
      const isReport =
        before === "email.bounced" && expectedOf(recipient) === "returns" && type !== "email.bounced";
      if (!isReport && !AFTER[before]?.includes(type)) note("I5", `${recipient}: ${type} after ${before}`);
      last.set(recipient, type);
    }
  }
}
