import type { HotSql } from "#db/client";
import type { AuditActor } from "#db/schema/audit";
import type { Actor, Deps } from "#server/deps";
import { firstIdAt, newId } from "#server/platform/ids";
import { recordAuditHot } from "../audit/record";
import type { HotTransaction } from "../emails/status";
import { HAS_MENTION } from "./address-pattern";
import { emailPlace, recipientPlace } from "./emails";
import { createEraser } from "./mentions";
import type { ErasurePlace, StepResult } from "./place";
import { recordPlaces } from "./records";
import { suppressionPlace } from "./suppression";

/** In this order, so that emails to the address are erased first. */
const PLACES: readonly ErasurePlace[] = [recipientPlace, emailPlace, ...recordPlaces, suppressionPlace];
const FIRST_PLACE = recipientPlace.name;

const stepsPerClaim = 50;
const leaseMinutes = 10;
/** A request that is recorded late must be found by the second pass. */
const nextPassSeconds = 60;
const waitingMinutes = 5;
const overlapMs = 10 * 60_000;

type Lease = { teamId: string; id: string; leaseToken: string };

/**
 * Continues the requested erasures in small steps, and stops between them when `shouldContinue` returns false. A step and its
 * progress commit together, so an interrupted erasure continues at the same place and counts nothing twice. At least two passes
 * find what was written meanwhile. If none is due, it costs one index lookup.
 */
export async function runErasures(
  deps: Pick<Deps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  while (shouldContinue()) {
    const lease = await claimErasure(deps.hot, newId());
    if (!lease) return;
    for (let n = 0; n < stepsPerClaim && shouldContinue(); n++) if (!(await runStep(deps, lease))) break;
    await deps.hot`
      update erasures set lease_token = null, next_at = now()
      where team_id = ${lease.teamId} and id = ${lease.id} and lease_token = ${lease.leaseToken}`;
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

type Progress = Lease & {
  address: string;
  addressHash: string;
  suppresses: boolean;
  actor: AuditActor;
  actorId: string | null;
  requestId: string;
  pass: number;
  passStartedAt: Date;
  floor: string | null;
  place: string;
  after: string | null;
  waiting: number;
  firstWaiting: string | null;
  counts: Record<string, number>;
};

/** Runs one step and records the progress in its transaction. Returns whether the pass has more. */
async function runStep(deps: Pick<Deps, "hot" | "log">, lease: Lease): Promise<boolean> {
  return deps.hot.begin(async (tx) => {
    const [now] = await tx<Progress[]>`
      select team_id as "teamId", id, lease_token as "leaseToken", address, address_hash as "addressHash", suppresses,
        actor, actor_id as "actorId", request_id as "requestId", pass, pass_started_at as "passStartedAt", floor, place,
        after, waiting, first_waiting as "firstWaiting", counts
      from erasures
      where team_id = ${lease.teamId} and id = ${lease.id} and lease_token = ${lease.leaseToken} for update`;
    if (!now) return false;
    const at = Math.max(
      0,
      PLACES.findIndex(({ name }) => name === now.place),
    );
    const place = PLACES[at] as ErasurePlace;
    const { teamId, after, floor, suppresses } = now;
    const eraser = createEraser(now.address);
    const done = await place.erase(tx, { teamId, eraser, after, floor, suppresses });
    const progress = merge(now, done, place.name === emailPlace.name);
    const next = done.last === null ? PLACES[at + 1]?.name : place.name;
    if (next === undefined) {
      await endPass(deps, tx, progress);
      return false;
    }
    await tx`
      update erasures set place = ${next}, after = ${done.last}, waiting = ${progress.waiting},
        first_waiting = ${progress.firstWaiting}, counts = ${JSON.stringify(progress.counts)}::text::jsonb,
        next_at = now() + ${leaseMinutes} * interval '1 minute'
      where team_id = ${teamId} and id = ${now.id}`;
    return true;
  });
}

/** Emails that wait count once, in the place that reads all of them. Until then the number is that of the pass before. */
function merge(now: Progress, { counts, waiting }: StepResult, isScan: boolean): Progress {
  const sums = { ...now.counts };
  for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
  const first = waiting[0];
  return {
    ...now,
    counts: sums,
    waiting: isScan ? (now.after === null ? 0 : now.waiting) + waiting.length : now.waiting,
    firstWaiting: [now.firstWaiting, first].filter((id) => id != null).sort()[0] ?? null,
  };
}

/** The second pass or a later one ends the erasure if no email waits. */
async function endPass({ log }: Pick<Deps, "log">, tx: HotTransaction, done: Progress): Promise<void> {
  const { teamId, id, pass, firstWaiting, counts } = done;
  if (pass >= 2 && firstWaiting === null) {
    await tx`
      update erasures set status = 'done', address = null, lease_token = null, done_at = now(), waiting = 0,
        counts = ${JSON.stringify(counts)}::text::jsonb
      where team_id = ${teamId} and id = ${id}`;
    await recordReceipt(tx, done);
    log.info("erasure.done", { teamId, erasureId: id, ...counts });
    return;
  }
  const overlap = firstIdAt(new Date(done.passStartedAt.getTime() - overlapMs));
  const floor = [overlap, firstWaiting].filter((each) => each !== null).sort()[0] ?? overlap;
  const delay = firstWaiting === null ? `${nextPassSeconds} seconds` : `${waitingMinutes} minutes`;
  await tx`
    update erasures set pass = pass + 1, pass_started_at = null, floor = ${floor}, place = ${FIRST_PLACE}, after = null,
      waiting = ${done.waiting}, first_waiting = null, counts = ${JSON.stringify(counts)}::text::jsonb,
      lease_token = null, next_at = now() + ${delay}::text::interval
    where team_id = ${teamId} and id = ${id}`;
}

/** The receipt: who requested it, and how many rows were changed. Templates are the team's own texts and are only counted. */
async function recordReceipt(tx: HotTransaction, done: Progress): Promise<void> {
  const { teamId, id, addressHash, actor, actorId, requestId, counts, suppresses, address } = done;
  const templates = await countTemplates(tx, teamId, createEraser(address).search);
  const ctx = { teamId, requestId, actor: actorOf(actor, actorId) };
  await recordAuditHot(tx, ctx, {
    action: "address.erased",
    subject: { id, name: null },
    detail: {
      address_hash: addressHash,
      suppress: suppresses,
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

/** How many templates may contain the address in their current or published version. */
async function countTemplates(
  tx: HotTransaction,
  teamId: string,
  search: readonly string[],
): Promise<number> {
  const [row] = await tx.unsafe<{ count: number }[]>(
    `select count(distinct t.id)::int as count
     from templates t join template_versions v on v.team_id = t.team_id and v.id in (t.current_version_id, t.published_version_id)
     where t.team_id = $1 and ${HAS_MENTION("lower(concat_ws(' ', v.subject, v.html, v.text, v.sender, v.reply_to::text, v.variables::text))", "$2")}`,
    [teamId, search as string[]],
  );
  return row?.count ?? 0;
}
