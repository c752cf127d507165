import { readFile } from "node:fs/promises";

/** The status of a process. `startedAt` is in clock ticks since the machine started. */
/** Reads a file of /proc. */
export type ReadText = (file: string) => Promise<string>;
export const readText: ReadText = (file) => readFile(file, "utf8");

type ProcessStatus = { state: string; parent: number; startedAt: string };

/**
 * Reads the status of a process from /proc (proc_pid_stat(5)). Null if it has ended, or where there is no
 * /proc. Rejects if the reading fails for another reason, such as too many open files: that says nothing.
 */
export async function readStatus(pid: number, read: ReadText = readText): Promise<ProcessStatus | null> {
  const text = await read(`/proc/${pid}/stat`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return "";
    throw error;
  });
  // The program's name is in parentheses and can contain any character. The state is the next field, number
  // 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent] = fields;
  return state === "" ? null : { state, parent: Number(parent), startedAt: fields[19] ?? "" };
}

/**
 * Whether a process exists. A zombie, for example in a container without an init process, counts as ended.
 */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const status = await readStatus(pid).catch(() => null);
  return status?.state !== "Z";
}
