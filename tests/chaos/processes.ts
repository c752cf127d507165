import { setTimeout as wait } from "node:timers/promises";
import { type Child, startChild } from "../support/processes/child";
import { compiledOf } from "../support/processes/program";
import { freePort } from "../support/servers/free-port";
import type { Ask } from "./audit";
import type { Actor } from "./records";
import { formerNames } from "./release";

/** The permanent processes; scheduled rounds start and end. */
export type ProcessName = Exclude<Actor, "tick">;

/** The processes of the product in a rig. Each is restarted when it ends, as by a supervisor. */
export type Processes = {
  baseUrls: readonly [string, string];
  /** The ports for SMTP submission of the web processes. */
  smtpPorts: readonly [number, number];
  /** Resolves when the process is running. */
  isUp(who: ProcessName): Promise<unknown>;
  /**
   * Sends SIGKILL. The process is restarted unless `staysDown`. The returned promise resolves when it has
   * ended.
   */
  kill(who: ProcessName, options?: { staysDown?: boolean }): Promise<void>;
  /** Stops it (SIGSTOP) for a time. */
  freeze(who: ProcessName, ms: number): Promise<void>;
  /**
   * Sends SIGTERM and returns how it ended. It is restarted automatically, with other settings if these are
   * passed.
   */
  stop(
    who: ProcessName,
    options?: StartOptions,
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Starts it, optionally with other settings, and waits until it is ready, if it can become ready. */
  start(who: ProcessName, options?: StartOptions): Promise<void>;
  /** Processes that ended by themselves, with their last output. */
  exits: string[];
  outputs(): string;
  close(): Promise<void>;
};

export type StartOptions = {
  /** The folder of its sources. Default: this version. */
  root?: string;
  env?: Record<string, string>;
  /** Its own clock is wrong; the clock of the machine stays correct. */
  clockAheadMs?: number;
  /** Without a database it cannot become ready. */
  isUnready?: true;
};

const startMaxMs = 180_000;
const lastOutputLines = 6;
const FILES: Readonly<Record<ProcessName, string>> = {
  web0: "tests/support/processes/web-process.ts",
  web1: "tests/support/processes/web-process.ts",
  worker0: "server/startup/worker-process.ts",
  worker1: "server/startup/worker-process.ts",
};

/** Starts nothing yet. `envOf` returns the environment of each process. */
export async function openProcesses(
  envOf: (who: ProcessName) => Record<string, string>,
  ask: <T>(question: (hot: Ask) => PromiseLike<T>) => Promise<T>,
): Promise<Processes> {
  const ports = { web0: await freePort(), web1: await freePort() };
  const smtpPorts = { web0: await freePort(), web1: await freePort() };
  const children = new Map<ProcessName, Child<object>>();
  const up = new Map<ProcessName, Promise<void>>();
  /** The settings of the restarted process. */
  const optionsOf = new Map<ProcessName, StartOptions>();
  const exits: string[] = [];
  let isClosing = false;

  const watch = (who: ProcessName, child: Child<object>): void => {
    void child.exited.then(() => {
      if (!child.hasDied() || isClosing) return;
      const lastOutput = child.output().trimEnd().split("\n").slice(-lastOutputLines);
      exits.push(`${who} ended by itself: ${lastOutput.join(" | ")}`);
      restart(who);
    });
  };

  async function launch(who: ProcessName): Promise<void> {
    const { root, env = {}, clockAheadMs, isUnready } = optionsOf.get(who) ?? {};
    const isWeb = who === "web0" || who === "web1";
    const settings = {
      ...envOf(who),
      ...env,
      ...(isWeb && { PORT: String(ports[who]), BACKSTAMP_SMTP_PORT: `127.0.0.1:${smtpPorts[who]}` }),
      ...(clockAheadMs !== undefined && { CHAOS_CLOCK_AHEAD_MS: String(clockAheadMs) }),
    };
    const child = startChild<object>(
      await compiledOf(FILES[who], root),
      [],
      root === undefined ? settings : formerNames(settings),
      clockAheadMs === undefined ? [] : ["--import", new URL("./skewed-clock.mjs", import.meta.url).href],
    );
    children.set(who, child);
    if (isWeb) await child.waitFor((message): message is { port: number } => "port" in message);
    else if (!isUnready) await untilHeartbeat(child);
    watch(who, child);
  }

  async function untilHeartbeat(child: Child<object>): Promise<void> {
    const isThere = () => ask((hot) => hot`select 1 from workers where pid = ${child.pid}`);
    for (const untilMs = Date.now() + startMaxMs; (await isThere()).length === 0; await wait(20))
      if (child.hasExited() || Date.now() > untilMs)
        throw new Error(`A worker did not start:\n${child.output()}`);
  }

  const restart = (who: ProcessName): void => {
    if (!isClosing) up.set(who, launch(who));
    // Only a caller that waits for it gets the error.
    up.get(who)?.catch(() => {});
  };

  return {
    baseUrls: [`http://127.0.0.1:${ports.web0}`, `http://127.0.0.1:${ports.web1}`],
    smtpPorts: [smtpPorts.web0, smtpPorts.web1],
    exits,
    isUp: async (who) => up.get(who),
    async start(who, options = {}) {
      optionsOf.set(who, options);
      restart(who);
      await up.get(who);
    },
    async kill(who, { staysDown = false } = {}) {
      await children.get(who)?.kill();
      if (staysDown) up.set(who, Promise.resolve());
      else restart(who);
    },
    async freeze(who, ms) {
      const child = children.get(who);
      child?.signal("SIGSTOP");
      await wait(ms);
      child?.signal("SIGCONT");
    },
    async stop(who, options = optionsOf.get(who) ?? {}) {
      optionsOf.set(who, options);
      const exit = await children.get(who)?.stop();
      restart(who);
      return exit ?? { code: null, signal: null };
    },
    outputs: () =>
      [...children].map(([who, child]) => `--- ${who}, process ${child.pid}\n${child.output()}`).join("\n"),
    async close() {
      isClosing = true;
      await Promise.allSettled(up.values());
      await Promise.all([...children.values()].map((child) => child.kill()));
    },
  };
}
