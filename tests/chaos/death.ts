import { setTimeout as wait } from "node:timers/promises";
import type { Sql } from "postgres";
import { isDatabaseAway } from "#db/faults";
import type { EmbeddedPostgres } from "#server/boot/embedded";
import { descendantsOf, isRunning } from "../support/processes";

/** How PostgreSQL is taken away: everything at once, its first process alone, or by its own immediate shutdown. */
export type PostgresDeath = "all" | "postmaster" | "immediate";

const backMaxMs = 60_000;
const pollMs = 2;

/** Kills PostgreSQL, and resolves when none of its processes is left. Whoever started it starts it again by itself. */
export async function killPostgres({ pid }: EmbeddedPostgres, death: PostgresDeath): Promise<void> {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of death === "all" ? all : [pid])
    killIfThere(one, death === "immediate" ? "SIGQUIT" : "SIGKILL");
  while (all.some(isRunning)) await wait(pollMs);
}

/** Stops every process of PostgreSQL where it stands; what is returned lets them go on. */
export function freezePostgres({ pid }: EmbeddedPostgres): () => void {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of all) killIfThere(one, "SIGSTOP");
  return () => {
    for (const one of all) killIfThere(one, "SIGCONT");
  };
}

/** Asks the database, and again for as long as it is away. */
export async function whenUp<T>(hot: Sql, ask: (hot: Sql) => PromiseLike<T>): Promise<T> {
  for (const untilMs = Date.now() + backMaxMs; ; await wait(pollMs * 10)) {
    try {
      return await ask(hot);
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() > untilMs) throw error;
    }
  }
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
