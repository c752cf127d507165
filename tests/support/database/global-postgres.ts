import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { silentLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";

declare module "vitest" {
  export interface ProvidedContext {
    /** The maintenance database of the cluster, from which new ones are created. */
    postgresUrl: string;
    /** The name of a migrated, empty database to clone. */
    postgresTemplate: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated template database. It is deleted at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-tests-"));
  const server = await startEmbeddedPostgres({ dataDir: folder, log: silentLog, quick: true });
  const tearDown = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const template = "backstamp_template";
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    // A test opens several connections, and with the usual 4,096 rounds each derives its key for
    // milliseconds.
    await sql`set scram_iterations = 1`;
    await sql.unsafe(`alter role current_user password '${new URL(server.url).password}'`);
    await sql`create database ${sql(template)}`;
    await sql.end();
    const templateUrl = new URL(server.url);
    templateUrl.pathname = `/${template}`;
    await migrateDatabase(templateUrl.href);
    // As after a worker's first round, which would otherwise create the partitions in each test's database.
    const { hot, close } = openDatabase(templateUrl.href);
    await maintainPartitions({ hot, log: silentLog }, () => true);
    await close();
    project.provide("postgresUrl", server.url);
    project.provide("postgresTemplate", template);
    return tearDown;
  } catch (error) {
    await tearDown();
    throw error;
  }
}
