import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const projectRoot: string = fileURLToPath(new URL("../../..", import.meta.url));

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** How a process exited, and its output. */
export type Ended = Exit & { stdout: string; stderr: string };

export type StartOptions = {
  /** Default: the project's root. */
  cwd?: string;
  /** Added to PATH, HOME and similar variables. Nothing else of this process's environment is passed on. */
  env?: Record<string, string | undefined>;
  /** Written to its standard input, which is then closed. */
  input?: string;
};

export type WaitOptions = {
  timeoutMs?: number;
  /** Searches only the output from this offset on. */
  from?: number;
};

/** A process under test, with its output and functions to end it. */
export type TestProcess = {
  pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in the order of arrival. */
  readonly output: string;
  /** Resolves after it has exited and all output was read. Never rejects. */
  exited: Promise<Exit>;
  readonly hasExited: boolean;
  /** The first match in `output`. Rejects with all output if the process exits or the time is over before. */
  waitFor(pattern: RegExp, options?: WaitOptions): Promise<RegExpExecArray>;
  /** Sends a signal to this process only. */
  signal(name: NodeJS.Signals): void;
  /** Stops it gracefully. After the timeout it is killed with its children, and the promise rejects. */
  stop(name?: NodeJS.Signals, timeoutMs?: number): Promise<Exit>;
  /** SIGKILL to this process only; its children continue. */
  kill(): Promise<Exit>;
  /** SIGKILL to it and all its descendants, also in sessions of their own. */
  killTree(): Promise<Exit>;
};

const running = new Map<number, () => void>();

// The processes that a failed test left running are killed when the test's process exits.
process.once("exit", () => {
  for (const end of running.values()) end();
});

/** Starts a program and captures its output. Rejects if it cannot be started. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: StartOptions = {},
): Promise<TestProcess> {
  const child = spawn(command, args, {
    cwd: options.cwd ?? projectRoot,
    env: { ...basicEnvironment(), ...options.env } as NodeJS.ProcessEnv,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  child.stdin?.end(options.input);
  return watch(child, [path.basename(command), ...args].join(" "));
}

/**
 * Starts a TypeScript file in a separate Node process without a shell or wrapper, so the pid is that of the
 * code.
 */
export function startTsx(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<TestProcess> {
  return startProcess(process.execPath, ["--import", tsx, path.resolve(projectRoot, file), ...args], options);
}

/** Runs a TypeScript file until it exits, for at most 60 s. */
export async function runTsx(
  file: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Ended> {
  return runToExit(await startTsx(file, args, options));
}

/** Waits at most 60 s until a process exits; after that it is killed, and the promise rejects. */
export async function runToExit(started: TestProcess): Promise<Ended> {
  const exit = await within(started, started.exited, 60_000, "its end");
  return { ...exit, stdout: started.stdout, stderr: started.stderr };
}

/** Kills all running processes and their children. For `afterEach`. */
export function killLeftovers(): void {
  for (const end of running.values()) end();
}

/** Whether a process with this id is running. A zombie is not. */
export function isRunning(pid: number): boolean {
  return (statOf(pid)?.state ?? "Z") !== "Z";
}

/** All descendants of a process. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat) parents.set(Number(name), stat.parent);
  }
  const below = [pid];
  for (const parent of below) {
    for (const [candidate, itsParent] of parents) if (itsParent === parent) below.push(candidate);
  }
  return below.slice(1);
}

function watch(child: ChildProcess, name: string): TestProcess {
  const pid = child.pid ?? 0;
  const listeners = new Set<() => void>();
  const written = { stdout: "", stderr: "", output: "" };
  const collect = (stream: "stdout" | "stderr") => {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      written[stream] += text;
      written.output += text;
      for (const listener of listeners) listener();
    });
  };
  collect("stdout");
  collect("stderr");
  let exit: Exit | null = null;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      running.delete(pid);
      const settle = () => {
        exit ??= { code, signal };
        resolve(exit);
        for (const listener of listeners) listener();
      };
      child.once("close", settle);
      // Children that continue can keep the streams open indefinitely.
      setTimeout(settle, 500).unref();
    });
  });
  const killWithDescendants = () => {
    // The pid of a reaped process may belong to another process.
    if (child.exitCode === null && child.signalCode === null) killAll(pid);
  };
  running.set(pid, killWithDescendants);

  const it: TestProcess = {
    pid,
    exited,
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    get output() {
      return written.output;
    },
    get hasExited() {
      return exit !== null;
    },
    waitFor(pattern, { timeoutMs = 60_000, from = 0 } = {}) {
      const found = new Promise<RegExpExecArray>((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(written.output.slice(from));
          if (match) resolve(match);
          else if (exit)
            reject(new Error(`${name} ended (${describe(exit)}) before ${pattern}:\n${written.output}`));
          if (match || exit) listeners.delete(look);
        };
        listeners.add(look);
        look();
      });
      return within(it, found, timeoutMs, String(pattern));
    },
    signal: (signal) => void (exit === null && child.kill(signal)),
    stop: async (signal = "SIGTERM", timeoutMs = 30_000) => {
      child.kill(signal);
      return within(it, exited, timeoutMs, `its end by ${signal}`);
    },
    kill: async () => {
      child.kill("SIGKILL");
      return exited;
    },
    killTree: async () => {
      killWithDescendants();
      return exited;
    },
  };
  return it;
}

async function within<T>(it: TestProcess, promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), timeoutMs);
  });
  const first = await Promise.race([promise.then((value) => ({ value })), late]);
  clearTimeout(timer);
  if (first !== "late") return first.value;
  await it.killTree();
  throw new Error(`waited ${timeoutMs} ms for ${what}; it wrote:\n${it.output}`);
}

// Stopped from the top down, so that no process is started while the tree is read.
function killAll(pid: number): void {
  const tree = [pid];
  for (let index = 0; index < tree.length; index++) {
    send(tree[index] ?? 0, "SIGSTOP");
    for (const below of descendantsOf(tree[index] ?? 0)) if (!tree.includes(below)) tree.push(below);
  }
  for (const member of tree) send(member, "SIGKILL");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function statOf(pid: number): { state: string; parent: number } | null {
  try {
    // The name in parentheses can contain spaces and parentheses.
    const [state = "", parent] =
      readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

function basicEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, USER, LANG, TMPDIR, TZ } = process.env;
  return { PATH, HOME, USER, LANG, TMPDIR, TZ };
}

const describe = ({ code, signal }: Exit): string => (signal ? `by ${signal}` : `with ${code}`);
