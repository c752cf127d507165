import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, rename, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ClusterLocation } from "./cluster-location";
import { explainSpawn } from "./initialise";
import { readPostmaster } from "./postmaster";

const startMaxMs = 60_000;
const logMaxBytes = 16 * 1024 * 1024;

// A transient error: children of a killed server have not released its shared memory yet.
const TRANSIENT = /pre-existing shared memory block/;
// Another socket got the port after it was chosen.
const PORT_TAKEN = /Address already in use/;

/** `port` if it is free on 127.0.0.1, else a free port chosen by the system. */
async function findPort(port = 0): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (port !== 0 && ["EADDRINUSE", "EACCES"].includes(code)) return findPort();
    throw error;
  }
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return found;
}

/** As `launchServer`, on a free port: `preferred` if possible, else one that the system chooses. */
export async function launchOnFreePort(
  place: ClusterLocation,
  program: string,
  settings: Record<string, string>,
  preferred?: number,
): Promise<{ server: ChildProcess; port: number }> {
  for (let port = await findPort(preferred); ; port = await findPort()) {
    try {
      const server = await launchServer(place, program, { ...settings, port: String(port) });
      return { server, port };
    } catch (error) {
      if (!PORT_TAKEN.test(String(error))) throw error;
    }
  }
}

/**
 * Starts the server and resolves once it accepts connections. The server has its own session, so Ctrl-C in
 * the terminal does not stop the database during requests. It has a log file instead of a pipe, so it can
 * shut down cleanly even if its parent was killed.
 */
export async function launchServer(
  place: ClusterLocation,
  program: string,
  settings: Record<string, string>,
): Promise<ChildProcess> {
  const deadline = performance.now() + startMaxMs;
  for (;;) {
    const { server, startError } = await tryLaunch(place, program, settings, deadline);
    if (startError === null) return server;
    if (!TRANSIENT.test(startError) || performance.now() > deadline) {
      throw new Error(`The embedded database did not start (log: ${logFileOf(place)}).\n${startError}`);
    }
    await wait(100);
  }
}

async function tryLaunch(
  place: ClusterLocation,
  program: string,
  settings: Record<string, string>,
  deadline: number,
): Promise<{ server: ChildProcess; startError: string | null }> {
  const log = await openLog(place);
  const from = (await log.stat()).size;
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(program, ["-D", place.pgdata, ...flags], {
    ...place.account,
    cwd: "/",
    env: { NODE_ENV: "production", TZ: "UTC" },
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  try {
    const failed = new Promise<never>((_, reject) =>
      server.once("error", (error) => reject(explainSpawn(error, place.account))),
    );
    const ended = new Promise<"ended">((resolve) => server.once("exit", () => resolve("ended")));
    while (performance.now() < deadline) {
      if ((await Promise.race([failed, ended, wait(15)])) === "ended") {
        return { server, startError: (await parseFrom(log, from)).trim() };
      }
      const postmaster = await readPostmaster(place.pgdata);
      if (postmaster?.pid === server.pid && postmaster?.isReady) return { server, startError: null };
    }
    server.kill("SIGQUIT");
    return { server, startError: `It was not ready within ${startMaxMs / 1000} s.` };
  } finally {
    await log.close();
  }
}

const logFileOf = (place: ClusterLocation): string => path.join(place.home, "postgres.log");

async function openLog(place: ClusterLocation) {
  const file = logFileOf(place);
  const { size = 0 } = (await stat(file).catch(() => null)) ?? {};
  if (size > logMaxBytes) await rename(file, `${file}.1`);
  return open(file, "a+", 0o600);
}

async function parseFrom(log: Awaited<ReturnType<typeof open>>, position: number): Promise<string> {
  const { bytesRead, buffer } = await log.read({ buffer: Buffer.alloc(8_192), position });
  return buffer.toString("utf8", 0, bytesRead);
}
