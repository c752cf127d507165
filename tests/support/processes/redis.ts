import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../servers/free-port";

/** Why a real Redis cannot be started here, or null if it can. */
export const redisMissing: string | null =
  spawnSync("redis-server", ["--version"]).status === 0
    ? null
    : "redis-server is not on PATH (Debian: apt-get install redis-server)";

export type RedisServer = {
  url: string;
  port: number;
  /** A separate client for the test. */
  client: Redis;
  /** Stops the process (SIGSTOP): connections stay open and get no response. */
  freeze(): void;
  thaw(): void;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a separate Redis on a free loopback port and in its own folder, without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-redis-"));
  const { port, started } = await onFreePort((port) => launch(port, folder));
  let server = started;
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on("error", () => undefined);

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  }

  return {
    url,
    port,
    client,
    freeze: () => server.kill("SIGSTOP"),
    thaw: () => server.kill("SIGCONT"),
    kill,
    async restart() {
      await kill();
      server = await launch(port, folder);
    },
    async stop() {
      client.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a program that cannot choose its port itself. If another process was faster and has the port, the
 * program ends, and is started with another port.
 */
export async function onFreePort<T>(
  start: (port: number) => Promise<T>,
): Promise<{ port: number; started: T }> {
  for (;;) {
    const port = await freePort();
    try {
      return { port, started: await start(port) };
    } catch (error) {
      if (!/address already in use/i.test(String(error))) throw error;
    }
  }
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const settings = [
    "--port",
    `${port}`,
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const server = spawn("redis-server", settings, { stdio: ["ignore", "pipe", "ignore"] });
  const killOnExit = () => server.kill("SIGKILL");
  process.once("exit", killOnExit);
  server.once("exit", () => process.removeListener("exit", killOnExit));
  await new Promise<void>((resolve, reject) => {
    let output = "";
    server.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("Ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`redis-server ended: ${output}`)));
  });
  return server;
}
