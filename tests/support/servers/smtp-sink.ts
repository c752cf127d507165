import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

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
 * Starts `smtp-sink` on a free loopback port. It does not run as root, so root starts it as the user
 * `nobody`.
 */
export async function startPostfixSink(binary: string, args: string[] = []): Promise<PostfixSink> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-sink-"));
  chmodSync(folder, 0o777);
  const port = await freePort();
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const dump = ["-d", join(folder, "mail.")];
  const child = spawn(binary, [...user, ...dump, ...args, `127.0.0.1:${port}`, "100"], {
    stdio: "ignore",
    cwd: folder,
  });
  await waitUntilListening(port, child);
  return {
    host: "127.0.0.1",
    port,
    messages: () => readdirSync(folder).map((name) => readFileSync(join(folder, name))),
    close: () =>
      new Promise((resolve) => {
        child.once("exit", () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.kill("SIGKILL");
      }),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Waits until a server listens on this loopback port. Rejects if the program exits before. */
export async function waitUntilListening(port: number, child: ChildProcess): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with code ${child.exitCode}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${child.spawnfile} does not listen`);
}
