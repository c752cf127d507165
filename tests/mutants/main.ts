import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { moveTempToMemory } from "../support/database/memory-folder";
import {
  type Checkout,
  checkTypes,
  createCheckout,
  endAll,
  plant,
  removeCheckout,
  runSuites,
} from "./checkout";
import type { Fault } from "./fault";
import { API_FAULTS } from "./faults-api";
import { DELIVERY_FAULTS } from "./faults-delivery";
import { LATER_FAULTS } from "./faults-later";
import { MAIL_FAULTS } from "./faults-mail";
import { PEOPLE_FAULTS } from "./faults-people";
import type { Findings } from "./reporter";

const usage = `Plants the faults of tests/mutants one at a time. Each must fail one of the suites beside it.

  npm run test:mutants -- [--only TEXT] [--faults FILE] [--workers N]

  --only TEXT    only faults whose name contains this text
  --faults FILE  the faults that this module exports as its default, instead of the list
  --workers N    faults that are tried at the same time, default 2
`;

/** `not started`: the tests or the product do not start, so the fault proves nothing. */
type Verdict = { kind: "caught" | "survived" | "hung" | "not started"; by: string };
type Row = Verdict & { fault: Fault; seconds: number };

const root = fileURLToPath(new URL("../..", import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    faults: { type: "string" },
    workers: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
const workers = Number(values.workers);
if (values.help || !Number.isInteger(workers) || workers < 1) {
  process.stderr.write(usage);
  process.exit(values.help ? 0 : 2);
}

moveTempToMemory();
const progress = (text: string): void => void process.stderr.write(`${text}\n`);
const checkouts: Checkout[] = [];
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    isStopping = true;
    void endAll(checkouts).finally(() => {
      removeAll();
      process.exit(130);
    });
  });

const faults = (await readFaults()).filter(({ name }) => name.includes(values.only));
const mistakes = faults.length === 0 ? ["No fault has this name."] : faults.flatMap(mistakesOf);
if (mistakes.length > 0) fail("These faults do not apply", mistakes);

const files = listFiles();
for (let n = 0; n < Math.min(workers, faults.length); n++) checkouts.push(createCheckout(root, files));
const [first] = checkouts;
if (!first) throw new RangeError("There is no checkout.");

const typeErrors = await findTypeErrors(first);
if (typeErrors.length > 0) fail("With these faults, the types are wrong", typeErrors);

progress("Control run of all suites, without a fault");
const control = await runSuites(first, [...new Set(faults.flatMap(({ suites }) => suites))], true);
const controlFaults = control === null ? ["It took too long."] : problemsOf(control);
if (controlFaults.length > 0) fail("The control run failed", controlFaults);

const rows: Row[] = [];
const pending = [...faults];
await Promise.all(
  checkouts.map(async (checkout) => {
    for (let fault = pending.shift(); fault && !isStopping; fault = pending.shift()) {
      const startedMs = performance.now();
      const restore = plant(checkout, [fault]);
      const verdict = judge(await runSuites(checkout, fault.suites));
      restore();
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      rows.push({ ...verdict, fault, seconds });
      progress(`${rows.length}/${faults.length} ${verdict.kind} (${seconds} s): ${fault.name} ${verdict.by}`);
    }
  }),
);
if (!isStopping) {
  removeAll();
  process.stdout.write(render(rows.sort((a, b) => faults.indexOf(a.fault) - faults.indexOf(b.fault))));
  process.exit(rows.every(({ kind }) => kind === "caught") ? 0 : 1);
}

async function readFaults(): Promise<readonly Fault[]> {
  if (values.faults === undefined)
    return [...DELIVERY_FAULTS, ...MAIL_FAULTS, ...API_FAULTS, ...PEOPLE_FAULTS, ...LATER_FAULTS];
  return (await import(pathToFileURL(path.resolve(values.faults)).href)).default;
}

/** Why the fault no longer applies to the working tree. */
function mistakesOf({ name, file, from, to, suites }: Fault): string[] {
  const place = path.join(root, file);
  const count = existsSync(place) ? readFileSync(place, "utf8").split(from).length - 1 : 0;
  return [
    ...(count === 1 && from !== to ? [] : [`${name}: its line occurs ${count} times in ${file}.`]),
    ...(suites.length > 0 ? [] : [`${name}: it names no suite.`]),
    ...suites.filter((suite) => !existsSync(path.join(root, suite))).map((suite) => `${name}: no ${suite}.`),
  ];
}

/** The files of the working tree that Git does not ignore. */
function listFiles(): string[] {
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", options, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return listed.split("\0").filter((file) => file !== "" && existsSync(path.join(root, file)));
}

/**
 * The names of the faults with type errors, and the errors. Faults of different files are checked together: a
 * check takes a core for half a minute.
 */
async function findTypeErrors(checkout: Checkout): Promise<string[]> {
  const rounds: Fault[][] = [];
  for (const fault of faults) {
    const round = rounds.find((each) => each.every(({ file }) => file !== fault.file));
    if (round) round.push(fault);
    else rounds.push([fault]);
  }
  const found: string[] = [];
  for (const [index, round] of rounds.entries()) {
    progress(`Types of ${round.length} faults (${index + 1} of ${rounds.length})`);
    const restore = plant(checkout, round);
    const output = await checkTypes(checkout);
    restore();
    if (output === "") continue;
    const named = round.filter(({ file }) => output.includes(file)).map(({ name }) => name);
    found.push(...(named.length > 0 ? named : ["a fault whose file has no error itself"]), output);
  }
  return found;
}

function problemsOf({ failures, notStarted, errors }: Findings): string[] {
  return [
    ...failures.map(({ file, test, error }) => `${file}: ${test}: ${error}`),
    ...notStarted.map(({ file, error }) => `${file} did not start: ${error}`),
    ...errors,
  ];
}

function judge(findings: Findings | null): Verdict {
  if (findings === null) return { kind: "hung", by: "" };
  const [failure] = findings.failures;
  if (failure) return { kind: "caught", by: `${failure.file}: ${failure.test}` };
  if (findings.notStarted.length > 0) return { kind: "not started", by: problemsOf(findings).join(" ") };
  const [error] = findings.errors;
  // Without any test that passed, the run itself is broken.
  if (error !== undefined) return { kind: findings.passed > 0 ? "caught" : "not started", by: error };
  return findings.passed > 0 ? { kind: "survived", by: "" } : { kind: "not started", by: "No test ran." };
}

function render(all: readonly Row[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 240);
  const lines = all.map(({ fault, kind, by, seconds }) => {
    const outcome = kind === "caught" ? by : `**${kind}** ${by}`;
    return `| ${cell(fault.name)} | ${fault.file} | ${cell(outcome)} | ${seconds} |`;
  });
  const of = (kind: Verdict["kind"]) => all.filter((row) => row.kind === kind).length;
  const summary = `${all.length} faults: ${of("caught")} caught, ${of("survived")} survived, ${of("hung")} hung, ${of("not started")} not started.`;
  const head = "| fault | file | caught by | seconds |\n|---|---|---|---|";
  return `${[head, ...lines].join("\n")}\n\n${summary}\n`;
}

function removeAll(): void {
  for (const checkout of checkouts) removeCheckout(checkout);
}

function fail(title: string, lines: readonly string[]): never {
  progress(`${title}:\n${lines.join("\n")}`);
  removeAll();
  process.exit(1);
}
