import path from "node:path";
import { silentLog } from "#server/platform/log";
import { locateCluster } from "#server/startup/postgres/cluster-location";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { createCluster, ensurePassword } from "#server/startup/postgres/initialise";
import { stopPostmaster } from "#server/startup/postgres/postmaster";
import { launchOnFreePort } from "#server/startup/postgres/server";

/** The settings of the embedded server; the others have PostgreSQL's defaults, also `fsync`. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  max_locks_per_transaction: "512",
};

/**
 * Starts the embedded PostgreSQL, or the one whose programs are in the folder `BENCH_POSTGRES`, such as
 * Debian's `/usr/lib/postgresql/15/bin`. Its data is in `dataDir`.
 */
export async function startPostgres(dataDir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const programs = process.env.BENCH_POSTGRES;
  if (!programs) return startEmbeddedPostgres({ dataDir, log: silentLog });
  const place = await locateCluster(dataDir);
  const user = "backstamp";
  const password = await ensurePassword(place.home, place.pgdata);
  const initdb = path.join(programs, "initdb");
  await createCluster(place, { initdb, user, password, isQuick: false, locale: ["--locale=C.UTF-8"] });
  const { server, port } = await launchOnFreePort(place, path.join(programs, "postgres"), SETTINGS);
  const stopAtExit = () => server.kill("SIGINT");
  process.once("exit", stopAtExit);
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      process.off("exit", stopAtExit);
      if (server.pid) await stopPostmaster(server.pid, place.pgdata);
    },
  };
}
