import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { reachMoment, release } from "./aims";
import { judge } from "./judge";
import { type Load, startLoad } from "./load";
import { type Records, STAGES } from "./records";
import { describeRun } from "./report";
import { openRig, type Rig } from "./rig";
import { type PlannedKill, planKills } from "./schedule";
import { crimesCount, missedCrimes } from "./self-test";
import { countKills, killsAt } from "./stages";

const usage = `Kills the processes of a Posthorn under load, again and again, and judges what became of the mail.

  npm run chaos -- [--kills N] [--seed S] [--minutes M]

  --kills N     deaths, 30 unless told otherwise
  --seed S      the same seed gives the same plan
  --minutes M   no further kill after so long, 3 unless told otherwise
`;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "30" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "3" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const { seed } = values;
const killsCount = Number(values.kills);
const untilMs = Date.now() + Number(values.minutes) * 60_000;
if (!(killsCount > 0) || !(untilMs > 0)) {
  process.stderr.write(usage);
  process.exit(2);
}

const mailsMin = 200;
const clients = 6;
const drainMaxMs = 90_000;
const moveEveryMs = 1_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** One death after the other, each when its moment has come. */
async function runPlan(rig: Rig, load: Load, plan: PlannedKill[]): Promise<void> {
  for (const [index, kill] of plan.entries()) {
    if (Date.now() > untilMs) return say(`  the time is up after ${index} kills`);
    await wait(kill.pauseMs);
    const fromMs = Date.now();
    const wasReached = await reachMoment(rig, load, kill);
    await rig.kill(kill.victim, kill.aim, { ...kill, whenDead: () => release(rig) });
    await rig.moveTime();
    const how = kill.victim === "postgres" ? ` (${kill.death})` : "";
    const missed = wasReached ? "" : ", missed";
    say(
      `  ${String(index + 1).padStart(3)}  ${kill.victim}${how}, ${kill.aim}${missed}, ${Date.now() - fromMs} ms`,
    );
  }
}

/** Goes on until nothing waits any more, and time is moved instead of waited for. */
async function drain(rig: Rig): Promise<void> {
  const lateMs = Date.now() + drainMaxMs;
  for (;;) {
    await rig.moveTime();
    const left = await rig.ask((hot) => hot`select 1 from deliveries where status in ('queued', 'sending')`);
    if (left.length === 0) return;
    if (Date.now() > lateMs) return say(`  ${left.length} deliveries did not settle`);
    await wait(moveEveryMs / 4);
  }
}

async function run(rig: Rig): Promise<Records> {
  const load = startLoad({ ...rig, seed, clients });
  await runPlan(rig, load, planKills(seed, killsCount));
  while (load.calls.length < mailsMin) await wait(50);
  await load.stop();
  await drain(rig);
  return { calls: [...load.calls], ...(await rig.collect()) };
}

say(`Chaos with seed ${seed}: ${killsCount} kills.`);
const startedMs = Date.now();
const rig = await openRig();
let hasPassed = false;
try {
  const records = await run(rig);
  const verdict = judge(records);
  const table = countKills(records);
  const missed = missedCrimes(records);
  const empty = STAGES.filter((stage) => killsAt(table, stage) === 0);
  say(`\n${describeRun(records, table, verdict)}\n`);
  say(`  The judge saw ${crimesCount - missed.length} of ${crimesCount} planted crimes.`);
  for (const name of missed) say(`  It did not see: ${name}`);
  for (const stage of empty) say(`  No kill met mail that was ${stage}.`);
  hasPassed = verdict.findings.length === 0 && missed.length === 0 && empty.length === 0;
  if (!hasPassed) process.stderr.write(`${rig.outputs()}\n`);
} finally {
  await rig.close();
}
const seconds = Math.round((Date.now() - startedMs) / 1_000);
say(`${hasPassed ? "PASSED" : "FAILED"} with seed ${seed} in ${seconds} s.`);
process.exit(hasPassed ? 0 : 1);
