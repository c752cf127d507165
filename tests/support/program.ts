import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import {
  type Ended,
  projectRoot,
  type StartOptions,
  startProcess,
  type TestProcess,
  toItsEnd,
} from "./processes";

const folder = path.join(projectRoot, "tests/.artifacts/programs");

/** Each file still knows where it stood. */
const knowsItsPlace: Plugin = {
  name: "knows-its-place",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(file).href),
      ),
      loader: "ts",
    }));
  },
};

const compiled = new Map<string, Promise<string>>();

async function compile(file: string): Promise<string> {
  const outdir = path.join(folder, String(process.pid), path.basename(file, ".ts"));
  await build({
    absWorkingDir: projectRoot,
    entryPoints: [file],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [knowsItsPlace],
  });
  return path.join(outdir, `${path.basename(file, ".ts")}.mjs`);
}

/**
 * Starts a TypeScript program as Node runs it when it is compiled: compiled once for all of its starts in this process,
 * since to do so at each takes longer than most commands. For programs that start no further file of ours.
 */
export async function startProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<TestProcess> {
  const entry = compiled.get(file) ?? compile(file);
  compiled.set(file, entry);
  return startProcess(process.execPath, [await entry, ...args], options);
}

/** Runs a TypeScript program to its end, 60 s at most. */
export async function runProgram(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Ended> {
  return toItsEnd(await startProgram(file, args, options));
}
