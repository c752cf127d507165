import {
  type Call,
  groupBy,
  type Kill,
  type Records,
  STAGES,
  STAGES_OF,
  type Stage,
  type Step,
  type Victim,
} from "./records";

/** For each process and stage: how many of its kills found at least one mail there. */
export type KillTable = Record<Victim, Record<Stage, number>>;

/**
 * Tells from the records what each kill met: which mails were where at that moment, by the database's own account of
 * when they got there and the sink's of when it had them on disk.
 */
export function countKills(records: Records): KillTable {
  const table = Object.fromEntries(
    Object.keys(STAGES_OF).map((victim) => [victim, Object.fromEntries(STAGES.map((stage) => [stage, 0]))]),
  ) as KillTable;
  const lives = livesOf(records);
  for (const kill of records.kills) {
    const met = new Set(STAGES_OF[kill.victim].filter((stage) => meets(kill, stage, lives, records.calls)));
    for (const stage of met) table[kill.victim][stage]++;
  }
  return table;
}

/** The sum over the processes. */
export const killsAt = (table: KillTable, stage: Stage): number =>
  Object.values(table).reduce((sum, row) => sum + row[stage], 0);

/** One mail of one call, by its recipient: its steps, and when the sink had a copy of it. */
type Life = { call: Call; steps: Step[]; writtenAtMs: number[] };

/** A web process has to do with the mails that it was asked for, the others with all. */
function meets(kill: Kill, stage: Stage, lives: Life[], calls: Call[]): boolean {
  const isAsked = ({ tries }: Call) =>
    kill.web === null || tries.some(({ web, sentAtMs }) => web === kill.web && sentAtMs <= kill.atMs);
  if (stage !== "before commit")
    return lives.some((life) => isAsked(life.call) && stageAt(life, kill.atMs) === stage);
  const insertedAtMs = new Map(lives.map(({ call, steps }) => [call.label, steps[0]?.atMs ?? 0]));
  return calls.some((call) => {
    const isUnderWay = call.tries.some(
      ({ web, sentAtMs, endedAtMs }) =>
        (kill.web === null || web === kill.web) && sentAtMs <= kill.atMs && endedAtMs >= kill.atMs,
    );
    return (
      isUnderWay &&
      !call.isRefusable &&
      (insertedAtMs.get(call.label) ?? Number.POSITIVE_INFINITY) > kill.atMs
    );
  });
}

function livesOf(records: Records): Life[] {
  const steps = groupBy(records.steps, ({ deliveryId }) => deliveryId);
  const calls = new Map(records.calls.map((call) => [call.label, call]));
  const written = new Map<string, number[]>();
  for (const { recipients, writtenAtMs } of records.copies)
    for (const address of recipients) written.set(address, [...(written.get(address) ?? []), writtenAtMs]);
  return records.mails.flatMap(({ label, recipients }) => {
    const call = calls.get(label);
    if (!call) return [];
    return recipients.map(({ id, address }) => ({
      call,
      steps: steps.get(id) ?? [],
      writtenAtMs: written.get(address) ?? [],
    }));
  });
}

function stageAt({ steps, writtenAtMs }: Life, atMs: number): Stage | null {
  const step = steps.findLast((candidate) => candidate.atMs <= atMs);
  if (!step) return null;
  const { status, stage } = step.to;
  if (status === "queued") return "queued";
  if (status !== "sending") return null;
  if (stage === "claimed") return "claimed";
  return writtenAtMs.some((ms) => ms >= step.atMs && ms <= atMs) ? "answered" : "handed over";
}
