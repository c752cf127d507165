import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { findPort } from "#server/boot/postgres/server";
import {
  descendantsOf,
  isRunning,
  projectRoot,
  type StartOptions,
  startProcess,
  type TestProcess,
} from "../support/processes";

export const isRoot = process.getuid?.() === 0;
/** Namespaces of one's own for network and mounts: without them closed homes and missing networks cannot be shown here. */
export const mayUnshare = isRoot && spawnSync("unshare", ["-n", "-m", "true"]).status === 0;

const nobody = 65_534;
export const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];

/** Starts what follows with the project seen at `mountPoint`, which only it and its children see. */
export const mountedAt = (mountPoint: string): string[] => [
  "unshare",
  "-m",
  // Seen nowhere else, so that whoever removes the folder does not remove the project.
  "--propagation=private",
  "sh",
  "-c",
  'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"',
  projectRoot,
  mountPoint,
];

export type Launcher = TestProcess & {
  port: number;
  url: string;
  /** Everything that it has started, by id, for the question whether any of it is left. */
  household(): number[];
};

export type LaunchOptions = StartOptions & {
  mode?: "dev" | "start";
  dataDir: string;
  port?: number;
  /** Programs that start ours. */
  prefix?: string[];
  /** By npm, with the shell and whatever else it puts in between. */
  byNpm?: boolean;
};

const PROGRAM = {
  dev: ["--import", "tsx", "server/boot/launch.ts"],
  start: [".next/posthorn/launch.mjs"],
} as const;

/** Starts the launcher as `npm run dev` and `npm start` do, on a free port. */
export async function startLauncher(options: LaunchOptions): Promise<Launcher> {
  const port = options.port ?? (await findPort());
  const { mode = "dev", dataDir, prefix = [] } = options;
  const ours = options.byNpm ? ["npm", "run", mode] : [process.execPath, ...PROGRAM[mode], mode];
  const [command = "", ...args] = [...prefix, ...ours];
  const started = await startProcess(command, args, {
    ...options,
    env: { PORT: String(port), POSTHORN_DATA_DIR: dataDir, ...options.env },
  });
  return Object.defineProperties(started as Launcher, {
    port: { value: port },
    url: { value: `http://localhost:${port}` },
    household: { value: () => [started.pid, ...descendantsOf(started.pid)] },
  });
}

/** The commands of the banner, once it is there. */
export async function bannerOf(launcher: Launcher): Promise<{ send: string; read: string; text: string }> {
  await launcher.waitFor(/email show ID/);
  const text = launcher.stdout;
  const [send = "", read = ""] = text.split("\n").filter((line) => /^ {4}curl /.test(line));
  const [keyLine = ""] = text.split("\n").filter((line) => /^ {4}POSTHORN_KEY=/.test(line));
  return { send: `${keyLine}\n${send}`, read: `${keyLine}\n${read}`, text };
}

/** Runs what somebody pasted into their shell, and reads the JSON that it printed. */
export function paste(command: string, prefix: string[] = []): Record<string, unknown> {
  const [program = "", ...args] = [...prefix, "bash", "-c", command];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${command}\nprinted no JSON: ${stdout}${stderr}`);
  }
}

/** Everything that works in this data directory, the database's processes included, whoever started it. */
export function workersIn(dataDir: string): number[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
  return stdout
    .split("\n")
    .filter((line) => line.includes(dataDir))
    .map((line) => Number(line.trim().split(" ")[0]))
    .filter(isRunning);
}

/** The database server's id as it wrote it down. */
export const postmasterIn = (pgdata: string): number =>
  Number(readFileSync(path.join(pgdata, "postmaster.pid"), "utf8").split("\n")[0]);
