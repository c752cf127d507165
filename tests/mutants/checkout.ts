import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Fault } from "./fault";
import type { Findings } from "./reporter";

/** Longest run of the suites of one fault, and of the suites of all faults. */
export const runMs = { fault: 10 * 60_000, all: 60 * 60_000 } as const;
const typesMs = 30 * 60_000;

/** The configuration of a test file is that of the first prefix of its path. */
const CONFIGURATIONS: readonly [prefix: string, config: string][] = [
  ["tests/deep/", "tests/deep/vitest.config.ts"],
  ["tests/", "tests/vitest.config.ts"],
];

/** A copy of the working tree in which faults are planted, with a temporary folder of its own. */
export type Checkout = { root: string; temp: string };

const running = new Set<ChildProcess>();

/** Copies these files to a new folder, which shares `node_modules` with the root. */
export function createCheckout(root: string, files: readonly string[]): Checkout {
  const folder = mkdtempSync(path.join(tmpdir(), "mutants-"));
  const checkout = { root: path.join(folder, "tree"), temp: path.join(folder, "t") };
  mkdirSync(checkout.temp);
  // The embedded PostgreSQL of an installation by root runs as another user.
  for (const each of [folder, checkout.temp]) chmodSync(each, 0o755);
  for (const file of files) cpSync(path.join(root, file), path.join(checkout.root, file));
  symlinkSync(path.join(root, "node_modules"), path.join(checkout.root, "node_modules"));
  return checkout;
}

export const removeCheckout = ({ root }: Checkout): void =>
  rmSync(path.dirname(root), { recursive: true, force: true, maxRetries: 5 });

/** Plants faults of different files. Returns a function that restores the files. */
export function plant({ root }: Checkout, faults: readonly Fault[]): () => void {
  const restored = faults.map(({ file, from, to }) => {
    const place = path.join(root, file);
    const text = readFileSync(place, "utf8");
    writeFileSync(
      place,
      text.replace(from, () => to),
    );
    return () => writeFileSync(place, text);
  });
  return () => {
    for (const restore of restored) restore();
  };
}

/** The type errors of a checkout, one per line; empty without errors. */
export async function checkTypes(checkout: Checkout): Promise<string> {
  const { code, output } = await execute(checkout, ["node_modules/typescript/bin/tsc", "--noEmit"], typesMs);
  return code === 0 ? "" : output || `tsc ended with ${code}`;
}

/** Runs these test files until the first failure; with `isWhole`, all of them. Null if they took too long. */
export async function runSuites(
  checkout: Checkout,
  suites: readonly string[],
  isWhole = false,
): Promise<Findings | null> {
  const all: Findings = { failures: [], notStarted: [], errors: [], passed: 0 };
  for (const [config, files] of groupByConfiguration(suites)) {
    const place = path.join(checkout.temp, "findings.json");
    rmSync(place, { force: true });
    const options = ["--config", config, "--reporter", "./tests/mutants/reporter.ts"];
    const { code, output } = await execute(
      checkout,
      ["node_modules/vitest/vitest.mjs", "run", ...options, ...(isWhole ? [] : ["--bail", "1"]), ...files],
      isWhole ? runMs.all : runMs.fault,
      { MUTANT_FINDINGS: place },
    );
    if (code === null) {
      endPostgres(checkout);
      return null;
    }
    const found = readFindings(place) ?? { ...all, errors: [output.trim().slice(-2_000)] };
    all.failures.push(...found.failures);
    all.notStarted.push(...found.notStarted);
    all.errors.push(...found.errors);
    all.passed += found.passed;
    if (code !== 0 && !isWhole) break;
  }
  return all;
}

/** Ends all programs that are running in these checkouts. */
export async function endAll(checkouts: readonly Checkout[]): Promise<void> {
  await Promise.all([...running].map(endGroup));
  checkouts.forEach(endPostgres);
}

/** Ends the databases of a run that was killed: each has a session of its own. */
function endPostgres({ temp }: Checkout): void {
  for (const folder of readdirSync(temp)) {
    try {
      const [pid] = readFileSync(path.join(temp, folder, "postgres/postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGQUIT");
    } catch {
      // No database, or it has ended.
    }
  }
}

function groupByConfiguration(suites: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const suite of suites) {
    const config = CONFIGURATIONS.find(([prefix]) => suite.startsWith(prefix))?.[1];
    if (config === undefined) throw new RangeError(`${suite} is not in the folder tests.`);
    groups.set(config, [...(groups.get(config) ?? []), suite]);
  }
  return groups;
}

function readFindings(place: string): Findings | null {
  try {
    return JSON.parse(readFileSync(place, "utf8"));
  } catch {
    return null;
  }
}

/** Runs a program of Node's in the checkout. `code` is null if it took too long and was ended. */
async function execute(
  { root, temp }: Checkout,
  args: readonly string[],
  maxMs: number,
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    // A group of its own, which ends as a whole.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: temp, ...env },
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-100_000);
    });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void endGroup(child);
  }, maxMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => {
    clearTimeout(timer);
    running.delete(child);
  });
  return { code: isLate ? null : (code ?? 1), output };
}

/** SIGINT first: Vitest then stops its PostgreSQL. */
async function endGroup(child: ChildProcess): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    if (child.pid === undefined || !running.has(child)) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      return;
    }
    for (let n = 0; n < 50 && running.has(child); n++) await wait(100);
  }
}
