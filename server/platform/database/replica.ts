import type { Database } from "#db/client";
import { createKeptRead } from "../kept-read";
import { errorFacts, type Log } from "../log";
import { within } from "../within";

/**
 * A replica that is further behind is not read. Workers write every 5 s, so the newest transaction of a
 * current replica is younger.
 */
const lagMsMax = 10_000;
const checkedForMs = 1_000;
const checkMsMax = 500;
/** After it, a list is read from the primary: the replica hangs, or waits for its own recovery. */
const readMsMax = 5_000;

type Connections = Pick<Database, "db" | "hot">;

/**
 * Runs a read whose result may be up to 10 s old on the read replica. It runs on the primary, which is
 * `primary`, if there is no replica, if the replica lags or does not respond, and if the read fails there. So
 * it may run twice, and must not write.
 */
export type OnReplica = <From extends Connections, Result>(
  primary: From,
  read: (from: From) => Promise<Result>,
) => Promise<Result>;

export type Replica = {
  run: OnReplica;
  /** Why the replica is not read; null if it is. */
  findFault(): Promise<string | null>;
};

export const NO_REPLICA: Replica = { run: (primary, read) => read(primary), findFault: async () => null };

/** A streaming replica over open connections. `lagMax` in ms replaces the limit in tests. */
export function createReplica({ db, hot }: Connections, log: Log, lagMax = lagMsMax): Replica {
  const silent = () => new Error("It does not respond.");
  const warn = (facts: object) => log.warn("replica.not_read", { ...facts, database: "replica" });
  const findFault = async () => {
    const [state] = await within(
      hot<{ lagMs: number | null }[]>`
        select case when pg_is_in_recovery()
          then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000
          end as "lagMs"`,
      { ms: checkMsMax, fault: silent },
    );
    if (typeof state?.lagMs !== "number")
      return "It is no streaming replica that has replayed a transaction.";
    return state.lagMs > lagMax
      ? `Its newest transaction is ${Math.round(state.lagMs / 1_000)} s old.`
      : null;
  };
  const isRead = createKeptRead(async () => {
    try {
      const fault = await findFault();
      if (fault !== null) warn({ what: "lag", reason: fault });
      return fault === null;
    } catch (error) {
      warn({ what: "check", ...errorFacts(error) });
      return false;
    }
  }, checkedForMs);
  return {
    findFault: () => findFault().catch((error: Error) => error.message),
    run: async (primary, read) => {
      if (!(await isRead())) return read(primary);
      try {
        return await within(read({ ...primary, db, hot }), { ms: readMsMax, fault: silent });
      } catch (error) {
        // An AppError is no fault: the row of a cursor can be too new for the replica. By name, because Next
        // has a copy of the class.
        if (!(error instanceof Error && error.name === "AppError"))
          warn({ what: "read", ...errorFacts(error) });
        return read(primary);
      }
    },
  };
}
