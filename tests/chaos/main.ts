import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Fault, NotRun } from "./fault";
import { FAULTS, NOT_RUN } from "./faults/table";
import { type Counts, type Finding, judge, sumOf } from "./judge";
import { type Records, STAGES } from "./records";
import { describeFindings, killsIn, renderMarkdown } from "./report";
import { type Done, type Planned, runRig } from "./run";
import { missedViolations, violationsCount } from "./self-test";

const usage = `Injects the faults of the fault matrix into a Backstamp under load, and checks what happened to the email.

  npm run chaos -- [--short] [--only NAME,…] [--emails N] [--kills N] [--seed S] [--minutes M]

  --short       fewer times and fewer emails: under 5 minutes instead of under 40
  --only NAME   only these faults: ${FAULTS.map(({ name }) => name).join(", ")}
  --emails N    minimum number of accepted emails, default 10000 (with --short 1000)
  --kills N     minimum number of kill -9, default 300 (with --short 30)
  --seed S      the same seed gives the same plan
  --minutes M   after this time each remaining fault is injected once only, default 34 (with --short 3.3)
`;

/** The size of each form, and the share of the kills among the faults. */
const FORMS = {
  full: { emails: 10_000, kills: 300, minutes: 34 },
  short: { emails: 1_000, kills: 30, minutes: 3.3 },
} as const;
const PLACES = ["relay", "direct", "disk", "upgrade"] as const;

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string" },
    emails: { type: "string" },
    kills: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const { seed } = values;
const form = values.short ? "short" : "full";
const emails = Number(values.emails ?? FORMS[form].emails);
const kills = Number(values.kills ?? FORMS[form].kills);
const minutes = Number(values.minutes ?? FORMS[form].minutes);
const only = values.only?.split(",");
const unknownNames = only?.filter((name) => !FAULTS.some((fault) => fault.name === name)) ?? [];
if (values.help || !(emails > 0 && kills > 0 && minutes > 0) || unknownNames.length > 0) {
  process.stderr.write(`${unknownNames.map((name) => `There is no fault ${name}.\n`).join("")}${usage}`);
  process.exit(values.help ? 0 : 2);
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const startedMs = Date.now();
const untilMs = startedMs + minutes * 60_000;
const isLate = () => Date.now() > untilMs;

const notRun: NotRun[] = [...NOT_RUN];
const chosen = FAULTS.filter(({ name, row, times, unable }) => {
  if (only && !only.includes(name)) return false;
  const reason = !only && times[form] === 0 ? "in the full form only" : (unable?.() ?? null);
  if (reason !== null) notRun.push({ row, reason });
  if (reason !== null && only) print(`${row}: NOT RUN: ${reason}`);
  return reason === null;
});
if (chosen.length === 0) process.exit(0);
const planned = (fault: Fault): Planned => {
  const share = fault.isKill ? kills / FORMS[form].kills : Math.min(1, emails / FORMS[form].emails);
  return { fault, times: Math.max(1, Math.ceil(fault.times[form] * share)), seed: `${seed}-${fault.name}` };
};

const commit = revision();
const done: Done[] = [];
const findings: Finding[] = [];
const counts = new Map<string, Counts>();
const allRecords: Records[] = [];
let missed: string[] = [];

print(`Chaos with seed ${seed}, the ${form} form, commit ${commit}.`);
recordSeed("begun");
for (const place of PLACES) {
  const plan = chosen.filter((fault) => fault.place === place).map(planned);
  if (plan.length === 0) continue;
  print(`\n${place}: ${plan.length} faults`);
  const run = await runRig(place, plan, { print, isLate, emails, settlesEach: form === "full" }).catch(
    (error) => {
      findings.push({
        invariant: "I0",
        what: `${place} was aborted: ${error instanceof Error ? error.stack : error}`,
      });
      return null;
    },
  );
  if (!run) {
    for (const line of describeFindings(findings.slice(-1))) print(line);
    continue;
  }
  const verdict = judge(run.records);
  done.push(...run.done);
  allRecords.push(run.records);
  for (const [row, count] of verdict.counts) counts.set(row, count);
  findings.push(...verdict.findings);
  // The same judge for all rigs. The first one has the most records to plant violations in.
  if (allRecords.length === 1) missed = missedViolations(run.records);
  for (const line of describeFindings(verdict.findings)) print(line);
  if (verdict.findings.length > 0) process.stderr.write(`${run.outputs}\n`);
}
for (const { row, name } of chosen)
  if (!done.some(({ fault }) => fault.name === name)) notRun.push({ row, reason: "its rig was aborted" });

const hasPassed = report();
const seconds = Math.round((Date.now() - startedMs) / 1_000);
recordSeed(hasPassed ? "passed" : "failed");
print(`\n${hasPassed ? "PASSED" : "FAILED"} with seed ${seed} in ${seconds} s.`);
process.exit(hasPassed ? 0 : 1);

/** Prints what was found, what is missing, and the tables at the end. True without findings. */
function report(): boolean {
  if (allRecords.length === 0) return false;
  const undetected: string[] = [
    ...missed.map((name) => `The judge did not detect: ${name}`),
    ...chosen
      .filter(({ name }) => !done.some(({ fault, times }) => fault.name === name && times > 0))
      .map(({ name }) => `${name} was never injected.`),
  ];
  const shortfalls: string[] = [];
  if (!only) {
    const accepted = sumOf(counts.values()).accepted;
    const killed = killsIn(allRecords);
    if (accepted < emails) shortfalls.push(`Only ${accepted} emails were accepted.`);
    if (killed.length < kills) shortfalls.push(`Only ${killed.length} kills were made.`);
    for (const stage of STAGES)
      if (!killed.some((one) => one.stage === stage))
        shortfalls.push(`No kill hit an email that was ${stage}.`);
  }
  for (const line of [...undetected, ...shortfalls]) print(line);
  const violations = { seen: violationsCount - missed.length, injected: violationsCount, missed };
  const taken = (Date.now() - startedMs) / 60_000;
  const outcome = {
    seed,
    commit,
    minutes: taken,
    done,
    counts,
    findings,
    records: allRecords,
    notRun,
    violations,
  };
  print(`\n${renderMarkdown(outcome)}`);
  // On a slow or busy machine, the short form injects each fault as often as there is time for, and at least
  // once.
  const isShortfallAllowed = form === "short" && isLate();
  return findings.length === 0 && undetected.length === 0 && (shortfalls.length === 0 || isShortfallAllowed);
}

/** Every seed is kept, also that of an aborted run. */
function recordSeed(how: "begun" | "passed" | "failed"): void {
  mkdirSync(".backstamp", { recursive: true, mode: 0o700 });
  const line = { at: new Date().toISOString(), seed, form, only, commit, how };
  appendFileSync(".backstamp/chaos-seeds.jsonl", `${JSON.stringify(line)}\n`);
}

function revision(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { stdio: "pipe" }).toString().trim();
  } catch {
    return "unknown";
  }
}
