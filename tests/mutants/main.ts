import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { moveTempToMemory } from "../support/database/memory-folder";
import { projectRoot } from "../support/processes/processes";
import type { Fault } from "./fault";
import { API_FAULTS } from "./faults-api";
import { DELIVERY_FAULTS } from "./faults-delivery";
import { LATER_FAULTS } from "./faults-later";
import { MAIL_FAULTS } from "./faults-mail";
import { PEOPLE_FAULTS } from "./faults-people";

const usage = `Plants the faults of tests/mutants one at a time. Each must fail one of the suites beside it.

  npm run test:mutants -- [--only TEXT] [--faults FILE] [--workers N]

  --only TEXT    only faults whose name contains this text
  --faults FILE  the faults that this module exports as its default, instead of the list
  --workers N    faults that are tried at the same time, default 2
`;
const maxSeconds = { fault: 10 * 60, all: 60 * 60 };
/** The exit codes of `timeout`. */
const TIMED_OUT = [124, 137];

/** `not started`: the tests or the product do not start, so the fault proves nothing. */
type Verdict = { kind: "caught" | "survived" | "hung" | "not started"; by: string };
type Row = Verdict & { fault: Fault; seconds: number };

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    faults: { type: "string" },
    workers: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
const workers = Number(values.workers);
if (values.help || !Number.isInteger(workers) || workers < 1) end(values.help ? 0 : 2, usage);

const all: readonly Fault[] =
  values.faults === undefined
    ? [...DELIVERY_FAULTS, ...MAIL_FAULTS, ...API_FAULTS, ...PEOPLE_FAULTS, ...LATER_FAULTS]
    : (await import(pathToFileURL(path.resolve(values.faults)).href)).default;
const faults = all.filter(({ name }) => name.includes(values.only));
const mistakes = faults.length === 0 ? ["No fault has this name."] : faults.flatMap(mistakesOf);
if (mistakes.length > 0) end(1, `${mistakes.join("\n")}\n`);

moveTempToMemory();
const folder = mkdtempSync(path.join(tmpdir(), "mutants-"));
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGINT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const checkouts = Array.from({ length: Math.min(workers, faults.length) }, (_, n) => createCheckout(`${n}`));

progress("Control run of all suites, without a fault");
const suites = [...new Set(faults.flatMap((fault) => fault.suites))];
const control = await runSuites(checkouts[0] ?? "", suites, maxSeconds.all);
if (control.kind !== "survived") end(1, `The control run failed: ${control.kind} ${control.by}\n`);

const rows: Row[] = [];
const pending = [...faults];
await Promise.all(
  checkouts.map(async (checkout) => {
    for (let fault = pending.shift(); fault; fault = pending.shift()) {
      const { file, from, to, name } = fault;
      const startedMs = performance.now();
      const place = path.join(checkout, file);
      const text = readFileSync(place, "utf8");
      writeFileSync(place, text.split(from).join(to));
      const verdict = await runSuites(checkout, fault.suites, maxSeconds.fault);
      writeFileSync(place, text);
      rows.push({ ...verdict, fault, seconds: Math.round((performance.now() - startedMs) / 1_000) });
      progress(`${rows.length}/${faults.length} ${verdict.kind}: ${name} ${verdict.by}`);
    }
  }),
);
process.stdout.write(render(rows.sort((a, b) => faults.indexOf(a.fault) - faults.indexOf(b.fault))));
process.exitCode = rows.every(({ kind }) => kind === "caught") ? 0 : 1;

/** Why the fault no longer applies to the working tree. */
function mistakesOf({ name, file, from, to, suites }: Fault): string[] {
  const place = path.join(projectRoot, file);
  const count = existsSync(place) ? readFileSync(place, "utf8").split(from).length - 1 : 0;
  return [
    ...(count === 1 && from !== to ? [] : [`${name}: its line occurs ${count} times in ${file}.`]),
    ...(suites.length > 0 ? [] : [`${name}: it names no suite.`]),
    ...suites
      .filter((suite) => !existsSync(path.join(projectRoot, suite)))
      .map((suite) => `${name}: no ${suite}.`),
  ];
}

/** A copy of the files of the working tree that Git does not ignore, with the packages of the original. */
function createCheckout(name: string): string {
  const checkout = path.join(folder, name);
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: projectRoot,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  for (const file of listed
    .split("\0")
    .filter((each) => each !== "" && existsSync(path.join(projectRoot, each))))
    cpSync(path.join(projectRoot, file), path.join(checkout, file));
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(checkout, "node_modules"));
  return checkout;
}

/** Runs these test files, those of one configuration after those of the other, until one does not survive. */
async function runSuites(checkout: string, files: readonly string[], seconds: number): Promise<Verdict> {
  const isDeep = (file: string) => file.startsWith("tests/deep/");
  for (const [config, own] of [
    ["tests/vitest.config.ts", files.filter((file) => !isDeep(file))],
    ["tests/deep/vitest.config.ts", files.filter(isDeep)],
  ] as const) {
    const verdict = own.length === 0 ? null : await runOnce(checkout, ["--config", config, ...own], seconds);
    if (verdict && verdict.kind !== "survived") return verdict;
  }
  return { kind: "survived", by: "" };
}

/** What the JSON of Vitest contains. */
type Results = {
  numPassedTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
};

async function runOnce(checkout: string, options: readonly string[], seconds: number): Promise<Verdict> {
  const place = path.join(checkout, "results.json");
  rmSync(place, { force: true });
  // It also ends the children of Vitest. With the first signal Vitest stops its PostgreSQL.
  const limits = ["--signal=INT", "--kill-after=30", String(seconds)];
  const vitest = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--bail",
    "1",
    "--reporter=json",
    `--outputFile=${place}`,
  ];
  const child = spawn("timeout", [...limits, process.execPath, ...vitest, ...options], {
    cwd: checkout,
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.add(child);
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  running.delete(child);
  if (code === null || TIMED_OUT.includes(code)) return { kind: "hung", by: "" };
  if (!existsSync(place)) return { kind: "not started", by: output };
  const { numPassedTests, testResults }: Results = JSON.parse(readFileSync(place, "utf8"));
  const failures = testResults.flatMap(({ name, message, assertionResults }) => {
    const by = path.relative(checkout, name);
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed) return [{ isResult: true, by: `${by}: ${failed.fullName}` }];
    // A failed assertion or a timeout in a hook is a result like one in a test.
    const isResult = assertionResults.length > 0 && /^(expected|Hook timed out)/.test(message);
    return message === "" ? [] : [{ isResult, by: `${by}: ${message.split("\n")[0]}` }];
  });
  const caught = failures.find(({ isResult }) => isResult) ?? failures[0];
  if (caught) return { kind: caught.isResult ? "caught" : "not started", by: caught.by };
  if (numPassedTests === 0) return { kind: "not started", by: `No test passed. ${output}` };
  // Vitest fails a run for errors outside of its tests.
  return code === 0 ? { kind: "survived", by: "" } : { kind: "caught", by: output };
}

function render(all: readonly Row[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 240);
  const lines = all.map(({ fault, kind, by, seconds }) => {
    const outcome = kind === "caught" ? by : `**${kind}** ${by}`;
    return `| ${cell(fault.name)} | ${fault.file} | ${cell(outcome)} | ${seconds} |`;
  });
  const caught = all.filter(({ kind }) => kind === "caught").length;
  const head = "| fault | file | caught by | seconds |\n|---|---|---|---|";
  return `${[head, ...lines].join("\n")}\n\n${all.length} faults: ${caught} caught, ${all.length - caught} not.\n`;
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function end(code: number, text: string): never {
  process.stderr.write(text);
  process.exit(code);
}
