import { setTimeout as wait } from "node:timers/promises";
import { errorFacts, type Log } from "#server/platform/log";
import { withConnection } from "../install/with-connection";
import { findBinaries } from "./binaries";
import { locateCluster } from "./cluster-location";
import { createCluster, ensurePassword } from "./initialise";
import { ensureLoopback } from "./loopback";
import { requireMajorVersion } from "./major-version";
import { claimCluster, requireOwnership } from "./ownership";
import { readPostmaster, stopOrphan, stopPostmaster } from "./postmaster";
import { launchOnFreePort, launchServer } from "./server";

/** The embedded PostgreSQL server. `pid` changes on restarts; `url` contains the superuser's password. */
export type EmbeddedPostgres = { url: string; readonly pid: number; dataDir: string; stop(): Promise<void> };

export type EmbeddedOptions = {
  /**
   * Directory of the cluster, its password and its log; created if missing. The caller must hold its lock.
   */
  dataDir: string;
  log: Log;
  /**
   * Lets the data directory use a cluster that belongs to another one, because it was moved here or takes it
   * over.
   */
  shouldAdopt?: boolean;
  /** For tests: no fsync, more connections. A crash of the machine can destroy the data. */
  quick?: boolean;
};

const NAME = "backstamp";
const RESTART_AFTER_MS = [100, 500, 1_000, 2_000, 5_000] as const;
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  // A statement locks every partition with its indexes (decision 045).
  max_locks_per_transaction: "512",
};
const QUICK_SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  // It would hold a database that is to be copied.
  autovacuum: "off",
  max_connections: "300",
};

/**
 * Starts PostgreSQL on 127.0.0.1 with a database `backstamp`; initializes the cluster on first use. Its port
 * is that of the previous server if possible, else any. Only `stop` ends it: a server that exits unexpectedly
 * is restarted on the same port.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, quick = false, shouldAdopt = false } = options;
  if (await ensureLoopback()) log.warn("loopback.switched_on");
  const place = await locateCluster(options.dataDir);
  await requireOwnership(place, shouldAdopt);
  const { initdb, postgres: program } = await findBinaries(place.home, place.account);
  await requireMajorVersion(place);
  const password = await ensurePassword(place.home, place.pgdata);
  await createCluster(place, { initdb, user: NAME, password, isQuick: quick });
  const lock = await claimCluster(place);
  const lastPort = (await readPostmaster(place.pgdata))?.port;
  const orphan = await stopOrphan(place.pgdata);
  if (orphan !== null) log.warn("postgres.orphan_stopped", { pid: orphan });

  const settings = { ...SETTINGS, ...(quick ? QUICK_SETTINGS : {}) };
  let isStopping = false;
  let restarting: Promise<void> = Promise.resolve();
  const { server: first, port } = await launchOnFreePort(place, program, settings, lastPort);
  let server = first;

  const restart = async (): Promise<void> => {
    for (let attempt = 0; !isStopping; attempt += 1) {
      await wait(RESTART_AFTER_MS[Math.min(attempt, RESTART_AFTER_MS.length - 1)]);
      if (isStopping) return;
      try {
        await stopOrphan(place.pgdata);
        server = await launchServer(place, program, { ...settings, port: String(port) });
        log.warn("postgres.restarted", { pid: server.pid });
        return watch();
      } catch (error) {
        log.error("postgres.restart_failed", errorFacts(error));
      }
    }
  };
  const watch = (): void => {
    server.once("exit", (code, signal) => {
      if (isStopping) return;
      log.error("postgres.died", { code, signal });
      restarting = restart();
    });
  };
  watch();
  const stopAtExit = () => server.kill("SIGINT");
  process.once("exit", stopAtExit);

  const base = `postgres://${NAME}:${password}@127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    isStopping = true;
    process.off("exit", stopAtExit);
    await restarting;
    if (server.pid && server.exitCode === null && server.signalCode === null)
      await stopPostmaster(server.pid, place.pgdata);
    await lock?.release();
  };
  try {
    await ensureDatabase(`${base}/postgres`);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `${base}/${NAME}`,
    dataDir: place.pgdata,
    get pid() {
      return server.pid ?? 0;
    },
    stop,
  };
}

const ensureDatabase = (url: string): Promise<void> =>
  withConnection(url, 10, async (sql) => {
    const found = await sql`select from pg_database where datname = ${NAME}`;
    if (found.length === 0) await sql`create database ${sql(NAME)}`;
  });
