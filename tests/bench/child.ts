import { fork } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { projectRoot } from "../support/processes/processes";

type Commands = Record<string, (input: never) => unknown>;
type Asked = { id: number; command: string; input: unknown };
type Answered = { id: number; value?: unknown; error?: string };

/** A separate process that answers calls, so that it has its own core, heap and processor time. */
export type Child<C extends Commands> = {
  ask<K extends keyof C & string>(command: K, ...input: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>>;
  /** Closes the channel, after which the process ends; kills it after 10 s. */
  end(): Promise<void>;
};

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const endMs = 10_000;

/**
 * Starts a file of this folder that calls `answerParent`. `nodeArgs` precede it, for example those of a
 * profiler.
 */
export function startChild<C extends Commands>(file: string, nodeArgs: string[] = []): Child<C> {
  const child = fork(path.join(projectRoot, "tests/bench", file), {
    cwd: projectRoot,
    execArgv: ["--import", tsx, ...nodeArgs],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const open = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let lastId = 0;
  child.on("message", ({ id, value, error }: Answered) => {
    const waiting = open.get(id);
    open.delete(id);
    if (error === undefined) waiting?.resolve(value as never);
    else waiting?.reject(new Error(`${file}: ${error}`));
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      for (const { reject } of open.values()) reject(new Error(`${file} ended (${signal ?? code})`));
      resolve();
    });
  });
  const stopAtExit = () => child.kill("SIGKILL");
  process.once("exit", stopAtExit);
  return {
    ask: (command, ...[input]) =>
      new Promise((resolve, reject) => {
        open.set(++lastId, { resolve, reject });
        child.send({ id: lastId, command, input } satisfies Asked);
      }),
    async end() {
      child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), endMs);
      await ended;
      clearTimeout(timer);
      process.off("exit", stopAtExit);
    },
  };
}

/** The child's side: answers the parent's calls one by one, and runs `close` when the parent has gone. */
export function answerParent(commands: Commands, close: () => Promise<void>): void {
  process.on("message", async ({ id, command, input }: Asked) => {
    const answer: Answered = { id };
    try {
      answer.value = await commands[command]?.(input as never);
    } catch (error) {
      answer.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    if (process.connected) process.send?.(answer);
  });
  process.once("disconnect", () => void close().finally(() => process.exit(0)));
}

/** Processor time of this process so far, and its current memory. */
export const usage = (): { cpuMs: number; rssMb: number } => {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 1_000_000 };
};
