import { readdirSync, readFileSync } from "node:fs";
import type { HotSql } from "#db/client";

/** The process that starts those of PostgreSQL, on this machine. */
export async function findPostmaster(hot: HotSql): Promise<number> {
  const [backend] = await hot<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return statOf(String(backend?.pid))?.parent ?? 0;
}

/** Processor time so far of a process and all below it, also of those that have ended, in ms. */
export function cpuOfTree(root: number): number {
  const all = readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) ? (statOf(pid) ?? []) : []));
  const tree = new Set([root]);
  for (const member of tree) for (const { pid, parent } of all) if (parent === member) tree.add(pid);
  const ticks = all.reduce((sum, { pid, own, ofEnded }) => sum + (tree.has(pid) ? own + ofEnded : 0), 0);
  // Linux reports these times in hundredths of a second, whatever its timer is (USER_HZ).
  return ticks * 10;
}

/** See proc_pid_stat(5). Null for a process that has ended. */
export function statOf(pid: string): { pid: number; parent: number; own: number; ofEnded: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const [own = 0, system = 0, ofEnded = 0, systemOfEnded = 0] = fields.slice(11, 15);
    return { pid: Number(pid), parent, own: own + system, ofEnded: ofEnded + systemOfEnded };
  } catch {
    return null;
  }
}
