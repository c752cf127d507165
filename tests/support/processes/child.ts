import { type ChildProcess, spawn } from "node:child_process";
import { type Exit, projectRoot } from "./processes";

/** A child process with a channel. It exits when the channel closes, so it never outlives the run. */
export type Child<Message> = {
  pid: number;
  send(order: object): void;
  /** The next message that `matches` accepts. Rejects with the output if the process exits before. */
  waitFor<T extends Message>(matches: (message: Message) => message is T): Promise<T>;
  /** Calls `listen` with every message from now on. */
  onMessage(listen: (message: Message) => unknown): void;
  output(): string;
  exited: Promise<Exit>;
  hasExited(): boolean;
  /** Whether it exited without being stopped by this process. */
  hasDied(): boolean;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Stops it gracefully, and returns how it exited. */
  stop(): Promise<Exit>;
};

/** Starts a compiled program of the project. */
export function startChild<Message extends object>(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  nodeArgs: readonly string[] = [],
): Child<Message> {
  const child: ChildProcess = spawn(process.execPath, [...nodeArgs, program, ...args], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(-outputCharactersMax);
    });
  let isExited = false;
  let wasStopped = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      isExited = true;
      resolve({ code, signal });
    });
  });
  child.on("error", () => {});
  return {
    pid: child.pid ?? 0,
    // A killed process receives nothing.
    send: (order) => void (isExited || child.send(order, () => {})),
    waitFor: (matches) =>
      new Promise((resolve, reject) => {
        const listen = (message: Message) => {
          if (!matches(message)) return;
          child.off("message", listen as (message: unknown) => void);
          resolve(message);
        };
        child.on("message", listen as (message: unknown) => void);
        void exited.then(() => reject(new Error(`${program} ended:\n${output}`)));
      }),
    onMessage: (listen) => void child.on("message", listen as (message: unknown) => void),
    output: () => output,
    exited,
    hasExited: () => isExited,
    hasDied: () => isExited && !wasStopped,
    signal: (name) => void (isExited || child.kill(name)),
    async kill() {
      wasStopped = true;
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      wasStopped = true;
      child.kill("SIGTERM");
      return exited;
    },
  };
}

const outputCharactersMax = 500_000;
