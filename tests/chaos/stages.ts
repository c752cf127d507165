import {
  type Call,
  type Disturbance,
  groupBy,
  type Records,
  STAGES,
  STAGES_OF,
  type Stage,
  type Step,
  type Victim,
  victimOf,
  type Who,
} from "./records";

/** For each process and stage: how many of its kills found at least one email there. */
export type KillTable = Record<Victim, Record<Stage, number>>;

/**
 * Determines from the records which emails each kill affected: by the database's times of each step and its
 * user, and by the sink's times.
 */
export function countKills(records: Records): KillTable {
  const table = Object.fromEntries(
    Object.keys(STAGES_OF).map((victim) => [victim, Object.fromEntries(STAGES.map((stage) => [stage, 0]))]),
  ) as KillTable;
  const histories = historiesOf(records);
  const insertedAtMs = new Map(histories.map(({ call, steps }) => [call.label, steps[0]?.atMs ?? 0]));
  for (const kill of records.disturbances) {
    const victim = kill.what === "kill" ? victimOf(kill.who) : null;
    if (victim === null) continue;
    // Disturbances that ended before, or began after, are unrelated.
    const near = histories.filter(({ fromMs, toMs }) => fromMs <= kill.fromMs && toMs >= kill.fromMs);
    for (const stage of STAGES_OF[victim]) {
      const isMet =
        stage === "before commit"
          ? records.calls.some((call) => isInProgress(call, kill, insertedAtMs))
          : near.some((life) => concerns(life, kill.who) && stageAt(life, kill) === stage);
      if (isMet) table[victim][stage]++;
    }
  }
  return table;
}

/** Two tables in one. */
export function addKills(one: KillTable, other: KillTable): KillTable {
  const sum = structuredClone(one);
  for (const victim of Object.keys(other) as Victim[])
    for (const stage of STAGES) sum[victim][stage] += other[victim][stage];
  return sum;
}

/** The sum over the processes. */
export const killsAt = (table: KillTable, stage: Stage): number =>
  Object.values(table).reduce((sum, row) => sum + row[stage], 0);

/** One email of one call, by its recipient: its steps, and when the sink had a copy. */
type EmailHistory = { call: Call; steps: Step[]; writtenAtMs: number[]; fromMs: number; toMs: number };

/** A web process is involved with the emails that it was asked to send. */
function concerns({ call }: EmailHistory, who: Who): boolean {
  return !who.startsWith("web") || call.tries.some(({ web }) => `web${web}` === who);
}

function isInProgress(call: Call, { who, fromMs }: Disturbance, insertedAtMs: Map<string, number>): boolean {
  if (call.isRefusable || (insertedAtMs.get(call.label) ?? Number.POSITIVE_INFINITY) <= fromMs) return false;
  return call.tries.some(
    ({ web, sentAtMs, endedAtMs }) =>
      (who === "postgres" || who === `web${web}`) && sentAtMs <= fromMs && endedAtMs >= fromMs,
  );
}

function historiesOf(records: Records): EmailHistory[] {
  const steps = groupBy(records.steps, ({ deliveryId }) => deliveryId);
  const calls = new Map(records.calls.map((call) => [call.label, call]));
  const written = new Map<string, number[]>();
  for (const { recipients, writtenAtMs } of records.copies)
    for (const address of recipients) written.set(address, [...(written.get(address) ?? []), writtenAtMs]);
  return records.emails.flatMap(({ label, recipients }) => {
    const call = calls.get(label);
    if (!call) return [];
    return recipients.map(({ id, address }) => {
      const own = steps.get(id) ?? [];
      return {
        call,
        steps: own,
        writtenAtMs: written.get(address) ?? [],
        fromMs: own[0]?.atMs ?? Number.POSITIVE_INFINITY,
        toMs: own.at(-1)?.atMs ?? 0,
      };
    });
  });
}

function stageAt({ steps, writtenAtMs }: EmailHistory, { who, fromMs }: Disturbance): Stage | null {
  const step = steps.findLast((candidate) => candidate.atMs <= fromMs);
  if (!step) return null;
  const { status, stage } = step.to;
  if (status === "queued") return "queued";
  if (status !== "sending" || (who.startsWith("worker") && step.by !== who)) return null;
  if (stage === "claimed") return "claimed";
  return writtenAtMs.some((ms) => ms >= step.atMs && ms <= fromMs) ? "answered" : "handed over";
}
