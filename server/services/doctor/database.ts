import { performance } from "node:perf_hooks";
import { findMissingLimits } from "#db/time-limits";
import { formatBytes, isNearlyFull } from "#server/platform/disk";
import { cli } from "#server/platform/env/cli";
import { getSchemaState } from "../health";
import { measureClockSkew, skewSecondsMax } from "../surroundings";
import { type DoctorDeps, failure, failureOf, NEEDS_DATABASE, ok, type Result, warning } from "./finding";

const oldestMajor = 15;
/** From this share of the connections on, a new process may not get any. */
const connectionsShareMax = 0.8;
/**
 * So many statements at once, each of which locks every partition with its indexes, need less than half of
 * the shared locks.
 */
const lockingStatements = 16;
const locksAdvised = 512;
const skewSecondsAdvised = 2;

type Server = {
  version: string;
  number: number;
  used: number;
  most: number;
  ofRole: number;
  isReadOnly: boolean;
  locks: number;
  partitions: number;
};

const START = "Start Backstamp, then run the doctor again.";

/** Why no connection to the database is possible; null if one is. */
export async function findConnectionFault(deps: DoctorDeps): Promise<Result | null> {
  const { hot, databaseFault } = deps;
  if (databaseFault !== null) return failure(databaseFault, START);
  try {
    await hot`select 1`;
    return null;
  } catch (error) {
    const explained = deps.explainDatabaseFault(error);
    const advice = "Start it, and check DATABASE_URL.";
    if (explained !== null) return failureOf(explained, advice);
    const reason = error instanceof Error ? error.message : String(error);
    return failure(`The database did not respond: ${reason}`, advice);
  }
}

/** Reachability, version, connections and time limits of the role. */
export async function checkDatabase(deps: DoctorDeps): Promise<Result | Result[]> {
  const fault = await findConnectionFault(deps);
  if (fault !== null) return fault;
  const { db, hot } = deps;
  const startedMs = performance.now();
  const [server] = await hot<Server[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      current_setting('max_connections')::int as most, r.rolconnlimit as "ofRole",
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
      current_setting('max_locks_per_transaction')::int as locks,
      (select count(*)::int from pg_inherits) as partitions
    from pg_roles r where r.rolname = current_user`;
  if (!server) return failure("The role of DATABASE_URL does not exist.", "Check DATABASE_URL.");
  const { version, number, used, most, ofRole, isReadOnly, locks, partitions } = server;
  const ms = Math.ceil(performance.now() - startedMs);
  const limit = ofRole > 0 ? Math.min(most, ofRole) : most;
  const missing = await findMissingLimits(db);
  const replicaFault = await deps.replica.findFault();
  const faults = [
    number < oldestMajor * 10_000 &&
      failure(`PostgreSQL ${version} is too old.`, `Upgrade it to PostgreSQL ${oldestMajor} or newer.`),
    isReadOnly &&
      failure(
        "The database is read-only, so no email is accepted.",
        "Set DATABASE_URL to the primary server.",
      ),
    used > limit * connectionsShareMax &&
      warning(
        `${used} of ${limit} connections are in use.`,
        "Raise max_connections (or the connection limit of the role), or put a transaction pooler in front.",
      ),
    partitions * lockingStatements > locks * most &&
      warning(
        `There are ${partitions} partitions of tables and indexes, and max_locks_per_transaction is ${locks}, so statements can fail.`,
        `Set max_locks_per_transaction = ${Math.max(locksAdvised, 2 * locks)} in postgresql.conf, and restart PostgreSQL.`,
      ),
    replicaFault !== null &&
      warning(
        `The read replica is not used: ${replicaFault}`,
        "Start it, check its replication, and correct DATABASE_URL_REPLICA.",
      ),
    missing.length > 0 &&
      warning(
        `Connections have no ${missing.join(", ")}, so a stuck statement can block others without end.`,
        `Run: ${cli} migrate. Behind a pooler, set DATABASE_URL_UNPOOLED for it.`,
      ),
  ].filter((fault) => fault !== false);
  const fine = ok(`PostgreSQL ${version} responded in ${ms} ms; ${used} of ${limit} connections are in use.`);
  return faults.length > 0 ? faults : fine;
}

/** Whether the schema is the one of this build. */
export async function checkSchema(deps: DoctorDeps): Promise<Result> {
  const first = await getSchemaState(deps);
  // The first connection to a busy database can take longer than readiness waits.
  const state = first === "unknown" ? await getSchemaState(deps) : first;
  if (state === "unknown") return NEEDS_DATABASE;
  if (state === null) return ok("The database has every migration of this version.");
  return failureOf(state.message, `Run: ${cli} migrate`);
}

/** The difference between the clocks of this machine and of the database, which sets all due times. */
export async function checkClock(deps: DoctorDeps): Promise<Result> {
  const { seconds, uncertainSeconds } = await measureClockSkew(deps);
  const difference = Math.abs(seconds);
  if (difference <= skewSecondsAdvised + uncertainSeconds)
    return ok("The clocks of this machine and of the database agree.");
  const message = `The clock of this machine is ${difference.toFixed(1)} s ${seconds > 0 ? "behind" : "ahead of"} that of the database.`;
  const advice =
    "Synchronize both machines by NTP. Signatures, links and sessions use the clock of this machine, due times that of the database.";
  return difference > skewSecondsMax ? failure(message, advice) : warning(message, advice);
}

/** Free space where the embedded database is; the size of another one. */
export async function checkDisk({ hot, readDisk }: DoctorDeps): Promise<Result> {
  const [row] = await hot<{ bytes: string }[]>`select pg_database_size(current_database())::text as bytes`;
  const size = formatBytes(Number(row?.bytes ?? 0));
  if (!readDisk) return ok(`The database has ${size}. Watch the free space of its server there.`);
  const disk = await readDisk();
  const space = `The database has ${size}, and ${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} are free on its disk.`;
  if (!isNearlyFull(disk)) return ok(space);
  return failure(space, "Enlarge the disk or free space on it. PostgreSQL stops when its disk is full.");
}
