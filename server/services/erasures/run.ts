import type { HotSql } from "#db/client";
import { isStatementTimeout } from "#db/faults";
import type { AuditActor, erasures } from "#db/schema/audit";
import type { Actor, Deps } from "#server/deps";
import { firstIdAt, newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { EXCEPTIONS } from "#server/shared/erasure-exceptions";
import { recordAuditHot } from "../audit/record";
import type { HotTransaction } from "../emails/status";
import { eraseMentioned, eraseSent, eraseWaiting } from "./emails";
import { createEraser } from "./mentions";
import { addCounts, type EraseStep, type StepResult } from "./place";
import { findTemplates, RECORD_STEPS } from "./records";
import { eraseSuppression } from "./suppression";

/**
 * The places of a pass in their order, so that emails to the address are erased first. The first pass begins
 * with `recipients`.
 */
const STEPS: Record<string, EraseStep> = {
  waiting: eraseWaiting,
  recipients: eraseSent,
  emails: eraseMentioned,
  ...RECORD_STEPS,
  suppressions: eraseSuppression,
};
const PLACES = Object.keys(STEPS);

const stepsPerClaim = 50;
const leaseMinutes = 10;
/** A request that is recorded late must be found by the second pass. */
const nextPassSeconds = 60;
/** What waits is read again after these times, so that an erasure that waits for weeks costs little. */
const waitingMinutesMin = 5;
const waitingMinutesMax = 6 * 60;
/**
 * Emails that wait and are read by their ids. With more, a pass reads everything from the first of the others
 * on.
 */
const waitingIdsMax = 1_000;
const faultMinutes = 5;
const halvingsMax = 10;
const overlapMs = 10 * 60_000;

type Lease = { teamId: string; id: string; leaseToken: string };

/**
 * Continues the requested erasures in small steps, and stops between them when `shouldContinue` returns
 * false. A step and its progress commit together, so an interrupted erasure continues at the same place and
 * counts nothing twice. At least two passes find what was written meanwhile. A step that fails is repeated
 * later, smaller if it took too long, and other erasures continue. If none is due, it costs one index lookup.
 */
export async function runErasures(
  deps: Pick<Deps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  while (shouldContinue()) {
    const lease = await claimErasure(deps.hot, newId());
    if (!lease) return;
    try {
      for (let n = 0; n < stepsPerClaim && shouldContinue(); n++) if (!(await runStep(deps, lease))) break;
      await deps.hot`
        update erasures set lease_token = null, next_at = now()
        where team_id = ${lease.teamId} and id = ${lease.id} and lease_token = ${lease.leaseToken}`;
    } catch (error) {
      await recordFault(deps, lease, error);
    }
  }
}

async function claimErasure(hot: HotSql, leaseToken: string): Promise<Lease | null> {
  const [row] = await hot<Lease[]>`
    update erasures set lease_token = ${leaseToken}, next_at = now() + ${leaseMinutes} * interval '1 minute',
      status = 'running', pass_started_at = coalesce(pass_started_at, now())
    where (team_id, id) = (select team_id, id from erasures where status <> 'done' and next_at <= now()
      order by next_at limit 1 for update skip locked)
    returning team_id as "teamId", id, lease_token as "leaseToken"`;
  return row ?? null;
}

/** The fault is stored without the message of the error, which can contain personal data. */
async function recordFault(
  { hot, log }: Pick<Deps, "hot" | "log">,
  { teamId, id, leaseToken }: Lease,
  error: unknown,
): Promise<void> {
  const { kind, code, ...facts } = errorFacts(error);
  const isTooLong = isStatementTimeout(error);
  const fault = isTooLong ? "The database canceled a statement that took too long." : `${kind} ${code ?? ""}`;
  await hot`
    update erasures set fault = ${fault.trim()}, lease_token = null, next_at = now() + ${faultMinutes} * interval '1 minute',
      halvings = least(halvings + ${isTooLong ? 1 : 0}, ${halvingsMax})
    where team_id = ${teamId} and id = ${id} and lease_token = ${leaseToken}`;
  log.error("erasure.step_failed", { teamId, erasureId: id, kind, code, ...facts });
}

type Progress = Lease &
  Omit<typeof erasures.$inferSelect, keyof Lease | "address" | "passStartedAt"> & {
    address: string;
    passStartedAt: Date;
  };

/** Runs one step and records the progress in its transaction. Returns whether the pass has more. */
async function runStep(deps: Pick<Deps, "hot" | "log">, lease: Lease): Promise<boolean> {
  return deps.hot.begin(async (tx) => {
    const [now] = await tx<Progress[]>`
      select team_id as "teamId", id, lease_token as "leaseToken", address, address_hash as "addressHash", suppresses,
        actor, actor_id as "actorId", request_id as "requestId", pass, pass_started_at as "passStartedAt", floor, place,
        after, waiting, waiting_ids as "waitingIds", first_waiting as "firstWaiting", waiting_keys as "waitingKeys",
        halvings, counts
      from erasures
      where team_id = ${lease.teamId} and id = ${lease.id} and lease_token = ${lease.leaseToken} for update`;
    if (!now) return false;
    // A place of another release may not exist: then the pass begins again.
    const place = now.place in STEPS ? now.place : "waiting";
    const erase = STEPS[place] ?? eraseWaiting;
    const done = await erase(tx, { ...now, eraser: createEraser(now.address) });
    const progress = merge(now, done, place === "emails");
    const next = done.last === null ? PLACES[PLACES.indexOf(place) + 1] : place;
    if (next === undefined) {
      await endPass(deps, tx, progress);
      return false;
    }
    await tx`
      update erasures set place = ${next}, after = ${done.last}, waiting = ${progress.waiting},
        waiting_ids = ${progress.waitingIds}::uuid[], first_waiting = ${progress.firstWaiting},
        waiting_keys = ${progress.waitingKeys}, counts = ${JSON.stringify(progress.counts)}::text::jsonb, fault = null,
        next_at = now() + ${leaseMinutes} * interval '1 minute'
      where team_id = ${now.teamId} and id = ${now.id}`;
    return true;
  });
}

/**
 * Emails that wait are listed by their ids. Those beyond the limit count once, in the place that reads all
 * emails.
 */
function merge(now: Progress, done: StepResult, isOfAllEmails: boolean): Progress {
  const { counts, read = [], waiting = [], waitingKeys } = done;
  const sums = { ...now.counts };
  addCounts(sums, counts);
  const isStart = now.after === null;
  const ids = new Set(now.waitingIds);
  let others = isOfAllEmails && isStart ? 0 : now.waiting - ids.size;
  for (const id of read) ids.delete(id);
  const unlisted = waiting.filter((id) => ids.size >= waitingIdsMax || !ids.add(id));
  if (isOfAllEmails) others += unlisted.length;
  return {
    ...now,
    counts: sums,
    waiting: ids.size + others,
    waitingIds: [...ids].sort(),
    firstWaiting: [now.firstWaiting, unlisted[0]].filter((id) => id != null).sort()[0] ?? null,
    waitingKeys: waitingKeys === undefined ? now.waitingKeys : (isStart ? 0 : now.waitingKeys) + waitingKeys,
  };
}

/** The second pass or a later one ends the erasure if nothing waits. */
async function endPass({ log }: Pick<Deps, "log">, tx: HotTransaction, done: Progress): Promise<void> {
  const { teamId, id, pass, waiting, waitingIds, firstWaiting, waitingKeys, counts } = done;
  const isWaiting = waitingIds.length > 0 || firstWaiting !== null || waitingKeys > 0;
  if (pass >= 2 && !isWaiting) {
    await tx`
      update erasures set status = 'done', address = null, lease_token = null, done_at = now(), waiting = 0, fault = null,
        counts = ${JSON.stringify(counts)}::text::jsonb
      where team_id = ${teamId} and id = ${id}`;
    await recordReceipt(tx, done);
    log.info("erasure.done", { teamId, erasureId: id, ...counts });
    return;
  }
  const overlap = firstIdAt(new Date(done.passStartedAt.getTime() - overlapMs));
  const floor = [overlap, firstWaiting].filter((each) => each !== null).sort()[0] ?? overlap;
  const minutes = Math.min(waitingMinutesMin * 2 ** Math.min(pass - 1, halvingsMax), waitingMinutesMax);
  const delay = isWaiting ? `${minutes} minutes` : `${nextPassSeconds} seconds`;
  await tx`
    update erasures set pass = pass + 1, pass_started_at = null, floor = ${floor}, place = 'waiting', after = null,
      waiting = ${waiting}, waiting_ids = ${waitingIds}::uuid[], first_waiting = null, waiting_keys = ${waitingKeys},
      counts = ${JSON.stringify(counts)}::text::jsonb, fault = null, halvings = 0,
      lease_token = null, next_at = now() + ${delay}::text::interval
    where team_id = ${teamId} and id = ${id}`;
}

/**
 * The receipt: who requested it, and how many rows were changed. Templates are the team's own texts and are
 * only counted.
 */
async function recordReceipt(tx: HotTransaction, done: Progress): Promise<void> {
  const { teamId, id, addressHash, actor, actorId, requestId, counts, suppresses, address } = done;
  const { length: templates } = await findTemplates(tx, teamId, createEraser(address));
  const ctx = { teamId, requestId, actor: actorOf(actor, actorId) };
  await recordAuditHot(tx, ctx, {
    action: "address.erased",
    subject: { id, name: null },
    detail: {
      address_hash: addressHash,
      suppress: suppresses,
      not_erased: Object.keys(EXCEPTIONS),
      ...counts,
      ...(templates > 0 && { templates_with_address: templates }),
    },
  });
}

const actorOf = (kind: AuditActor, id: string | null): Actor =>
  kind === "user" && id !== null
    ? { kind, userId: id }
    : kind === "key" && id !== null
      ? { kind, keyId: id, scopes: [], domains: [], allDomains: false }
      : { kind: kind === "system" ? "system" : "operator" };
