import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";

/** Postfix's own test server, which writes each accepted message to a file. */
export type PostfixSink = { host: string; port: number; messages(): Buffer[]; close(): Promise<void> };

/**
 * The path of `smtp-sink`, or `null` if it is not installed. Debian installs it outside the PATH of normal
 * users.
 */
export function findPostfixSink(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const isThere = (path: string) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return folders.map((folder) => join(folder, "smtp-sink")).find(isThere) ?? null;
}

/**
 * Starts `smtp-sink` behind a free loopback port. It cannot choose a port, so it listens on a socket in a
 * folder. It does not run as root, so root starts it as the user `nobody`.
 */
export async function startPostfixSink(binary: string, args: string[] = []): Promise<PostfixSink> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-sink-"));
  chmodSync(folder, 0o777);
  const path = join(folder, "listen");
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const dump = ["-d", join(folder, "mail.")];
  const child = spawn(binary, [...user, ...dump, ...args, `unix:${path}`, "100"], {
    stdio: "ignore",
    cwd: folder,
  });
  await waitUntilListening(path, child);
  const door = createServer((client) => {
    const sink = connect(path);
    pipeline(client, sink, client, () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
  return {
    host: "127.0.0.1",
    port: (door.address() as AddressInfo).port,
    messages: () =>
      readdirSync(folder)
        .filter((name) => name.startsWith("mail."))
        .map((name) => readFileSync(join(folder, name))),
    close: async () => {
      door.close();
      child.kill("SIGKILL");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a server listens on this loopback port or path. Rejects if the program exits before. */
export async function waitUntilListening(place: number | string, child: ChildProcess): Promise<void> {
  for (let round = 0; round < 1_000; round += 1) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with code ${child.exitCode}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = typeof place === "number" ? connect(place, "127.0.0.1") : connect(place);
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await wait(10);
  }
  throw new Error(`${child.spawnfile} does not listen`);
}
