import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";

/** Who works in a data directory: `url` is where it can be reached, `databaseUrl` opens its database. */
export type Holder = { pid: number; purpose: string; url: string | null; databaseUrl: string | null };

/** The right to work in a data directory, alone. */
export type DataLock = {
  /** Tells those who come later what they need to know. */
  describe(facts: Partial<Pick<Holder, "url" | "databaseUrl">>): Promise<void>;
  release(): Promise<void>;
};

const LockRecord = z.object({
  pid: z.number(),
  /** Which run of which boot the number means; numbers are handed out again. Empty where the system does not tell. */
  life: z.string(),
  purpose: z.string(),
  url: z.string().nullable(),
  databaseUrl: z.string().nullable(),
  isReleased: z.boolean(),
});
type LockRecord = z.infer<typeof LockRecord>;

const FILE = /^lock\.(\d+)$/;

/**
 * Takes the data directory for this process, or says who has it. A lock whose process is gone, however it went, counts
 * as free.
 *
 * Locks are numbered files and the highest one rules. A lock is taken by linking the next number, which exactly one of
 * several comers can, and it is never removed except by a higher one; so nobody can take away a lock that somebody else
 * took in the moment between looking and acting.
 */
export async function takeLock(
  dataDir: string,
  purpose: string,
): Promise<{ lock: DataLock } | { holder: Holder }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  for (;;) {
    const { numbers, top } = await readTop(dataDir);
    if (top && (await isHeld(top))) return { holder: top };
    const number = (numbers[0] ?? 0) + 1;
    const mine: LockRecord = {
      pid: process.pid,
      life: await lifeOf(process.pid),
      purpose,
      url: null,
      databaseUrl: null,
      isReleased: false,
    };
    if (!(await linkLock(dataDir, number, mine))) continue;
    if ((await readTop(dataDir)).numbers[0] !== number) {
      await rm(fileOf(dataDir, number), { force: true });
      continue;
    }
    for (const old of numbers) await rm(fileOf(dataDir, old), { force: true });
    return { lock: keep(dataDir, number, mine) };
  }
}

/** Who holds the data directory now; null where nobody does. */
export async function findHolder(dataDir: string): Promise<Holder | null> {
  const { top } = await readTop(dataDir).catch(() => ({ top: null }));
  return top && (await isHeld(top)) ? top : null;
}

function keep(dataDir: string, number: number, mine: LockRecord): DataLock {
  let record = mine;
  const write = async (change: Partial<LockRecord>): Promise<void> => {
    record = { ...record, ...change };
    const fresh = await writeAside(dataDir, record);
    await rename(fresh, fileOf(dataDir, number));
  };
  return {
    describe: (facts) => write(facts),
    release: () => write({ isReleased: true, url: null, databaseUrl: null }),
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
  await writeFile(fresh, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  return fresh;
}

async function isHeld(record: LockRecord): Promise<boolean> {
  if (record.isReleased) return false;
  try {
    process.kill(record.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return (await lifeOf(record.pid)) === record.life;
}

/** The boot of the machine and the process's start within it, from /proc; empty for a process that has ended. */
async function lifeOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The program's name stands in brackets and may hold anything; state and start are fields 3 and 22.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === undefined || fields[0] === "" || fields[0] === "Z") return "";
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${boot.trim()}/${fields[19]}`;
}

const fileOf = (dataDir: string, number: number): string => path.join(dataDir, `lock.${number}`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
