import { once } from "node:events";
import {
  lchown,
  link,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { OperatorError } from "./operator-error";

const HolderAnswer = z.object({
  pid: z.number(),
  purpose: z.string(),
  url: z.string().nullable(),
  publicUrl: z.string().nullable(),
  databaseUrl: z.string().nullable(),
});
/**
 * The process that uses a data directory. `url` is its URL for this machine, `publicUrl` the base of its
 * links, and `databaseUrl` the URL of its database.
 */
export type Holder = z.infer<typeof HolderAnswer>;

/** An exclusive lock of a data directory, or of the folder of a cluster. */
export type DataLock = {
  /** Publishes facts about the holder to other processes. */
  describe(facts: Partial<Pick<Holder, "url" | "publicUrl" | "databaseUrl">>): void;
  release(): Promise<void>;
};

const NAME = /^lock\.(\d+)$/;
/** A holder responds at once, unless it is suspended or its machine is overloaded. */
const answerMaxMs = 30_000;
/** The path of a socket has at most 107 bytes on Linux and 103 on macOS (unix(7), unix(4)). */
const socketPathBytesMax = 103;

/**
 * Locks the folder for this process, or returns the current holder. OperatorError if the holder does not
 * respond.
 *
 * A lock is a socket in the folder on which its holder listens. The kernel closes it when the process ends,
 * and it is visible to all containers that share the folder. A copy of it accepts no connections.
 *
 * Locks have numbers, and the highest number is valid. A process acquires the lock by linking its socket to
 * the next number, which succeeds for exactly one process. Only the holder of a higher number deletes a lock,
 * so no process can remove a lock that another one acquired between its check and its action.
 */
export async function acquireLock(
  folder: string,
  purpose: string,
): Promise<{ lock: DataLock } | { holder: Holder }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const numbers = await listNumbers(folder);
    const [top = 0] = numbers;
    const holder = await askHolder(folder, top);
    if (holder) return { holder };
    const lock = await openLock(folder, top + 1, purpose);
    if (!lock) continue;
    for (const old of numbers) await rm(path.join(folder, nameOf(old)), { force: true });
    return { lock };
  }
}

/** The current holder of the folder's lock, or null. OperatorError if the holder does not respond. */
export async function findHolder(folder: string): Promise<Holder | null> {
  const [top = 0] = await listNumbers(folder).catch(() => []);
  return askHolder(folder, top);
}

/** Null if another process acquired this number or a higher one. */
async function openLock(folder: string, number: number, purpose: string): Promise<DataLock | null> {
  const facts: Holder = { pid: process.pid, purpose, url: null, publicUrl: null, databaseUrl: null };
  const server = createServer((socket) => socket.on("error", () => {}).end(JSON.stringify(facts))).unref();
  const freshName = `lock-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const [fresh, file] = [path.join(folder, freshName), path.join(folder, nameOf(number))];
  try {
    await withShortPath(folder, freshName, async (shortPath) => {
      // The URL of the database contains its password, so only the owner may connect.
      const umask = process.umask(0o177);
      server.listen(shortPath);
      process.umask(umask);
      if (!server.listening) await once(server, "listening");
    });
    // After a start as root, the owner of the folder must still be able to connect.
    const { uid, gid } = await stat(folder);
    if (process.getuid?.() === 0) await lchown(fresh, uid, gid);
    await link(fresh, file);
    if ((await listNumbers(folder))[0] !== number) {
      await rm(file, { force: true });
      server.close();
      return null;
    }
  } catch (error) {
    server.close();
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return null;
    throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  return {
    describe: (change) => void Object.assign(facts, change),
    release: async () => {
      server.close();
      // A stopped installation contains no socket, which some programs cannot copy.
      await writeFile(fresh, "", { flag: "wx" });
      await rename(fresh, file);
    },
  };
}

/** The holder of the lock with this number; null if there is no such lock or its holder has ended. */
async function askHolder(folder: string, number: number): Promise<Holder | null> {
  for (;;) {
    try {
      const answer = await withShortPath(folder, nameOf(number), (shortPath) => {
        const socket = connect(shortPath);
        socket.setTimeout(answerMaxMs, () => socket.destroy(new OperatorError(explainSilence(folder))));
        return text(socket);
      });
      if (answer !== "") return HolderAnswer.parse(JSON.parse(answer));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ECONNREFUSED" || code === "ENOENT") return null;
      if (code !== "ECONNRESET") throw error;
    }
    // The holder ended during the connection. The next connection is refused.
  }
}

/** The numbers of all locks, the highest first. */
const listNumbers = async (folder: string): Promise<number[]> =>
  (await readdir(folder))
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);

/** A longer path of a socket leads through a link in the temporary folder. */
async function withShortPath<T>(
  folder: string,
  name: string,
  use: (shortPath: string) => Promise<T>,
): Promise<T> {
  const direct = path.join(folder, name);
  if (Buffer.byteLength(direct) <= socketPathBytesMax) return use(direct);
  const aside = await mkdtemp(path.join(tmpdir(), "backstamp-"));
  try {
    await symlink(path.resolve(folder), path.join(aside, "to"));
    return await use(path.join(aside, "to", name));
  } finally {
    await rm(aside, { recursive: true });
  }
}

const nameOf = (number: number): string => `lock.${number}`;

const explainSilence = (folder: string): string =>
  `${folder} is in use by a process that has not responded for ${answerMaxMs / 1000} s. If it is suspended, continue or stop it.`;
