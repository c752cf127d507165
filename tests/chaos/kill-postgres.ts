import { setTimeout as wait } from "node:timers/promises";
import type { Sql } from "postgres";
import { isDatabaseUnreachable } from "#db/faults";
import type { EmbeddedPostgres } from "#server/startup/postgres/embedded";
import { descendantsOf, isRunning } from "../support/processes/processes";

/** How PostgreSQL is killed: all processes at once, its first process only, or by immediate shutdown. */
export type PostgresKill = "all" | "postmaster" | "immediate";

const backMaxMs = 60_000;
const pollMs = 2;

/** Kills PostgreSQL and resolves when all its processes have ended. Its supervisor restarts it. */
export async function killPostgres({ pid }: EmbeddedPostgres, how: PostgresKill): Promise<void> {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of how === "all" ? all : [pid])
    killIfRunning(one, how === "immediate" ? "SIGQUIT" : "SIGKILL");
  while (all.some(isRunning)) await wait(pollMs);
}

/** Stops every process of PostgreSQL (SIGSTOP). The returned function lets them continue. */
export function freezePostgres({ pid }: EmbeddedPostgres): () => void {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of all) killIfRunning(one, "SIGSTOP");
  return () => {
    for (const one of all) killIfRunning(one, "SIGCONT");
  };
}

/** Queries the database, and retries while it is down. */
export async function retryWhileDown<T>(hot: Sql, ask: (hot: Sql) => PromiseLike<T>): Promise<T> {
  for (const untilMs = Date.now() + backMaxMs; ; await wait(pollMs * 10)) {
    try {
      return await ask(hot);
    } catch (error) {
      if (!isDatabaseUnreachable(error) || Date.now() > untilMs) throw error;
    }
  }
}

function killIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
