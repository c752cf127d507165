import { link, mkdir, readdir, readFile, readlink, rename, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { FolderIdentity, identifyFolder, isSameFolder } from "./folder-identity";
import { isLifeSocketOpen, type LifeSocket, openLifeSocket } from "./life-socket";
import { isRunning, readStatus } from "./process-info";
import { writeForOwner } from "./write-for-owner";

/**
 * The process that uses a data directory. `url` is its URL for this machine, `publicUrl` the base of its
 * links, and `databaseUrl` the URL of its database.
 */
export type Holder = {
  pid: number;
  purpose: string;
  url: string | null;
  publicUrl: string | null;
  databaseUrl: string | null;
};

/** An exclusive lock of a data directory, or of the folder of a cluster. */
export type DataLock = {
  /** Publishes facts about the holder to other processes. */
  describe(facts: Partial<Pick<Holder, "url" | "publicUrl" | "databaseUrl">>): Promise<void>;
  release(): Promise<void>;
};

const LockRecord = z.object({
  pid: z.number(),
  /**
   * Boot id and start time of the process, because pids are reused. Empty where the system does not provide
   * them.
   */
  life: z.string(),
  purpose: z.string(),
  url: z.string().nullable(),
  publicUrl: z.string().nullable().default(null),
  databaseUrl: z.string().nullable(),
  /**
   * The namespace in which the pid is valid, and the socket that shows other namespaces, such as containers,
   * that it lives.
   */
  namespace: z.string().default(""),
  socket: z.string().default(""),
  /**
   * The locked folder, because a copy of the folder contains a copy of the lock. Null in locks of release
   * 0.2.0.
   */
  folder: FolderIdentity.nullable().default(null),
  isReleased: z.boolean(),
});
type LockRecord = z.infer<typeof LockRecord>;

const FILE = /^lock\.(\d+)$/;

/**
 * Locks the data directory for this process, or returns the current holder. A lock whose process no longer
 * exists counts as free.
 *
 * Locks are numbered files, and the highest number is valid. A process acquires the lock by linking the next
 * number, which succeeds for exactly one process. Only the holder of a higher number deletes a file, so no
 * process can remove a lock that another one acquired between its check and its action.
 */
export async function acquireLock(
  dataDir: string,
  purpose: string,
): Promise<{ lock: DataLock } | { holder: Holder }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  for (;;) {
    const { numbers, top } = await readTop(dataDir);
    if (top && (await isHeld(top, dataDir))) return { holder: top };
    const number = (numbers[0] ?? 0) + 1;
    const socket = await openLifeSocket(dataDir);
    const mine: LockRecord = {
      pid: process.pid,
      life: await lifeOf(process.pid),
      purpose,
      url: null,
      publicUrl: null,
      databaseUrl: null,
      namespace: await readNamespace(),
      socket: socket.name,
      folder: await identifyFolder(dataDir),
      isReleased: false,
    };
    if (!(await linkLock(dataDir, number, mine))) {
      await socket.close();
      continue;
    }
    if ((await readTop(dataDir)).numbers[0] !== number) {
      await rm(fileOf(dataDir, number), { force: true });
      await socket.close();
      continue;
    }
    if (top?.socket) await rm(path.join(dataDir, path.basename(top.socket)), { force: true });
    for (const old of numbers) await rm(fileOf(dataDir, old), { force: true });
    return { lock: keep(dataDir, number, mine, socket) };
  }
}

/** The current holder of the data directory, or null. */
export async function findHolder(dataDir: string): Promise<Holder | null> {
  const { top } = await readTop(dataDir).catch(() => ({ top: null }));
  return top && (await isHeld(top, dataDir)) ? top : null;
}

function keep(dataDir: string, number: number, mine: LockRecord, socket: LifeSocket): DataLock {
  let record = mine;
  const write = async (change: Partial<LockRecord>): Promise<void> => {
    record = { ...record, ...change };
    const fresh = await writeAside(dataDir, record);
    await rename(fresh, fileOf(dataDir, number));
  };
  return {
    describe: (facts) => write(facts),
    release: async () => {
      await write({ isReleased: true, url: null, publicUrl: null, databaseUrl: null, socket: "" });
      await socket.close();
    },
  };
}

async function readTop(dataDir: string): Promise<{ numbers: number[]; top: LockRecord | null }> {
  const numbers = (await readdir(dataDir))
    .flatMap((name) => FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
  if (numbers[0] === undefined) return { numbers, top: null };
  const text = await readFile(fileOf(dataDir, numbers[0]), "utf8").catch(() => "");
  return { numbers, top: LockRecord.safeParse(parseJson(text)).data ?? null };
}

async function linkLock(dataDir: string, number: number, record: LockRecord): Promise<boolean> {
  const fresh = await writeAside(dataDir, record);
  try {
    await link(fresh, fileOf(dataDir, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(fresh, { force: true });
  }
}

async function writeAside(dataDir: string, record: LockRecord): Promise<string> {
  const fresh = path.join(dataDir, `lock-${process.pid}-${Math.random().toString(36).slice(2)}`);
  // After a start as root, the owner of the folder must still be able to read the lock.
  await writeForOwner(fresh, `${JSON.stringify(record)}\n`);
  return fresh;
}

async function isHeld(record: LockRecord, dataDir: string): Promise<boolean> {
  if (record.isReleased) return false;
  if (record.folder !== null && !isSameFolder(record.folder, await identifyFolder(dataDir))) return false;
  if (record.socket !== "" && record.namespace !== (await readNamespace()))
    return isLifeSocketOpen(dataDir, record.socket);
  return (await isRunning(record.pid)) && (await lifeOf(record.pid)) === record.life;
}

/** The namespace of this process's pid (pid_namespaces(7)). Empty where the system does not provide it. */
const readNamespace = (): Promise<string> => readlink("/proc/self/ns/pid").catch(() => "");

/** The boot id and the process's start time. Empty where the system does not provide them. */
async function lifeOf(pid: number): Promise<string> {
  const status = await readStatus(pid);
  if (!status) return "";
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${boot.trim()}/${status.startedAt}`;
}

const fileOf = (dataDir: string, number: number): string => path.join(dataDir, `lock.${number}`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
