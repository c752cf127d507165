import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "../servers/free-port";
import { descendantsOf, projectRoot, type StartOptions, startProcess, type TestProcess } from "./processes";
import { compiledOf } from "./program";

export const isRoot = process.getuid?.() === 0;
/**
 * Whether network and mount namespaces are available. Tests of closed homes and missing networks require
 * them.
 */
export const canUnshare = isRoot && spawnSync("unshare", ["-n", "-m", "true"]).status === 0;

const unprivilegedUid = 65_534;
export const asUnprivileged = [
  "setpriv",
  `--reuid=${unprivilegedUid}`,
  `--regid=${unprivilegedUid}`,
  "--clear-groups",
];

/** A command prefix that mounts the project at `mountPoint`, visible only to the command and its children. */
export const mountedAt = (mountPoint: string): string[] => [
  "unshare",
  "-m",
  // Private propagation: removing the folder outside must not remove the project.
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
  /** The ids of all processes that it started, to check that none of them remains. */
  launcherPids(): number[];
};

export type LaunchOptions = StartOptions & {
  mode?: "dev" | "start";
  dataDir: string;
  port?: number;
  /** The command that starts the program. */
  prefix?: string[];
  /** Options of the program, such as --adopt. */
  args?: string[];
  /**
   * `npm`: with npm, including its shell and wrappers. `source`: the command of package.json. `compiled`: the
   * same program, compiled, which starts with half of the CPU time. Default: `source`.
   */
  by?: "npm" | "source" | "compiled";
};

/** Starts the launcher in the mode `dev` or `start`, on a free port. */
export async function startLauncher(options: LaunchOptions): Promise<Launcher> {
  const port = options.port ?? (await freePort());
  const { mode = "dev", dataDir, prefix = [] } = options;
  const program = await commandOf(mode, options.by ?? "source");
  const [command = "", ...args] = [...prefix, ...program, ...(options.args ?? [])];
  const started = await startProcess(command, args, {
    ...options,
    env: { PORT: String(port), BACKSTAMP_DATA_DIR: dataDir, ...options.env },
  });
  return Object.defineProperties(started as Launcher, {
    port: { value: port },
    url: { value: `http://localhost:${port}` },
    launcherPids: { value: () => [started.pid, ...descendantsOf(started.pid)] },
  });
}

async function commandOf(mode: "dev" | "start", by: "npm" | "source" | "compiled"): Promise<string[]> {
  if (by === "npm") return ["npm", "run", mode, "--"];
  if (mode === "start") return [process.execPath, ".next/backstamp/launch.mjs", mode];
  const source = "server/startup/launch.ts";
  const program = by === "compiled" ? [await compiledOf(source)] : ["--import", "tsx", source];
  return [process.execPath, ...program, mode];
}

/** The commands of the banner, after it is printed. */
export async function bannerOf(
  launcher: Launcher,
): Promise<{ send: string; read: string; smtp: string; text: string }> {
  await launcher.waitFor(/email show ID/);
  const text = launcher.stdout;
  const [send = "", read = ""] = text.split("\n").filter((line) => /^ {4}curl /.test(line));
  const [keyLine = ""] = text.split("\n").filter((line) => /^ {4}BACKSTAMP_KEY=/.test(line));
  const [smtp = ""] = text.split("\n").filter((line) => /^ {4}printf .* smtp:/.test(line));
  return { smtp, send: `${keyLine}\n${send}`, read: `${keyLine}\n${read}`, text };
}

/** Runs a command in a shell and parses the JSON that it prints. */
export function paste(command: string, prefix: string[] = []): Record<string, unknown> {
  const [program = "", ...args] = [...prefix, "bash", "-c", command];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${command}\nprinted no JSON: ${stdout}${stderr}`);
  }
}

/** Runs the banner's command for SMTP, which prints nothing if the email was accepted. */
export function submitOverSmtp(command: string): void {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
  if (command === "" || status !== 0) throw new Error(`${command}\nfailed: ${stdout}${stderr}`);
}

/** The pid of the database server, from its pid file. */
export const postmasterIn = (pgdata: string): number =>
  Number(readFileSync(path.join(pgdata, "postmaster.pid"), "utf8").split("\n")[0]);
