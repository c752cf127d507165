import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startProcess, type TestProcess } from "./processes";
import { onFreePort } from "./redis";

/** Debian installs it outside the PATH of normal users. */
const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

/** Why PgBouncer cannot be started here, or null if it can. */
export const pgbouncerMissing: string | null = program
  ? null
  : "pgbouncer is not installed (Debian: apt-get install pgbouncer)";

export type PgBouncer = { url: string; stop(): Promise<void> };

/**
 * Starts PgBouncer in transaction mode in front of the database of this URL, with Debian's defaults: it
 * rejects start parameters that it cannot follow. `url` is that of the pooled database. It keeps at most
 * `connectionsMax` connections.
 */
export async function startPgBouncer(
  databaseUrl: string,
  connectionsMax = 20,
  { address, inside }: { address: string; inside: readonly string[] } = { address: "127.0.0.1", inside: [] },
): Promise<PgBouncer> {
  const target = new URL(databaseUrl);
  const folder = mkdtempSync(path.join(tmpdir(), "backstamp-pgbouncer-"));
  const users = path.join(folder, "users.txt");
  const settings = path.join(folder, "pgbouncer.ini");
  writeFileSync(users, `"${target.username}" "${decodeURIComponent(target.password)}"\n`);
  const settingsOf = (port: number) => `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = ${address}
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
max_client_conn = 500
default_pool_size = ${connectionsMax}
`;
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const { port, started } = await onFreePort(async (port) => {
    writeFileSync(settings, settingsOf(port));
    for (const file of [folder, users, settings]) chmodSync(file, 0o755);
    const [command = "", ...args] = [...inside, program ?? "pgbouncer", ...user, settings];
    const pooler = await startProcess(command, args);
    await waitUntilListening(pooler);
    return pooler;
  });
  const url = new URL(databaseUrl);
  Object.assign(url, { hostname: address, port: String(port) });
  return {
    url: url.href,
    async stop() {
      await started.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It says so in its log. A connection could reach another process that has the port. */
async function waitUntilListening(pooler: TestProcess): Promise<void> {
  await pooler.waitFor(/listening on [\d.]+:\d+/);
}
