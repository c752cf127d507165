import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import path from "node:path";
import { compilePrograms } from "#server/startup/compile";
import { projectRoot } from "../support/processes/processes";
import type { Answered, Asked, Commands } from "./child";

/** A separate process that answers calls, so that it has its own core, heap and processor time. */
export type Child<C extends Commands> = {
  ask<K extends keyof C & string>(command: K, ...input: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>>;
  /** Closes the channel, after which the process ends; kills it after 10 s. */
  end(): Promise<void>;
};

const folder = path.join(projectRoot, "tests/.artifacts/bench", randomUUID());
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const endMs = 10_000;
/** Those of `npm start`. */
const productArgs = ["--max-semi-space-size=8"];

/**
 * Starts a file of this folder that calls `answerParent`, compiled and started as the programs of the
 * product are. `nodeArgs` precede it, for example those of a profiler.
 */
export async function startChild<C extends Commands>(
  file: string,
  nodeArgs: string[] = [],
): Promise<Child<C>> {
  await compilePrograms([path.join(projectRoot, "tests/bench", file)], folder);
  const child = fork(path.join(folder, `${path.basename(file, ".ts")}.mjs`), {
    cwd: projectRoot,
    execArgv: [...productArgs, ...nodeArgs],
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
