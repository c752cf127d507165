import path from "node:path";
import { compilePrograms } from "#server/boot/compile";
import {
  type Ended,
  projectRoot,
  type StartOptions,
  startProcess,
  type TestProcess,
  toItsEnd,
} from "./processes";

const folder = path.join(projectRoot, "tests/.artifacts/programs", String(process.pid));

const compiled = new Map<string, Promise<string>>();

/**
 * The path of a TypeScript program as Node runs it, compiled once for all of its starts in this process: to read the
 * sources at each start takes longer than most programs. For those that start no further file of ours.
 */
export function compiledOf(file: string): Promise<string> {
  const entry = compiled.get(file) ?? compile(file);
  compiled.set(file, entry);
  return entry;
}

async function compile(file: string): Promise<string> {
  const name = path.basename(file, ".ts");
  await compilePrograms([path.join(projectRoot, file)], path.join(folder, name));
  return path.join(folder, name, `${name}.mjs`);
}

/** Starts a TypeScript program, compiled. */
export async function startProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<TestProcess> {
  return startProcess(process.execPath, [await compiledOf(file), ...args], options);
}

/** Runs a TypeScript program to its end, 60 s at most. */
export async function runProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Ended> {
  return toItsEnd(await startProgram(file, args, options));
}

/** Starts what `npm start` starts, which `npm run build` has compiled. */
export const startBuilt = (options: StartOptions): Promise<TestProcess> =>
  startProcess(process.execPath, [".next/posthorn/launch.mjs", "start"], options);
