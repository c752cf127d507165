import { rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import type { HotSql } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import type { Ctx, Deps } from "#server/deps";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { admitKeyring } from "#server/services/secrets/registry";
import { createTeam } from "#server/services/teams";
import { type Built, buildDeps, type ConnectedSettings } from "#server/startup/deps";
import { buildProduct, type Product } from "./product";
import { SENDER_DOMAIN } from "./sample-email";
import { startPostgres } from "./start-postgres";

/** A PostgreSQL with `fsync` and `synchronous_commit` on, in a temporary folder: see `startPostgres`. */
export type Place = {
  folder: string;
  /** Such as "18.4". */
  postgresVersion: string;
  /** A migrated database with one team, its verified domain, and a key without effective limits. */
  openDatabase(): Promise<BenchDatabase>;
  /** The production build, made on first use. */
  product(): Promise<Product>;
  close(): Promise<void>;
};

export type BenchDatabase = {
  url: string;
  teamId: string;
  token: string;
  ctx: Ctx;
  hot: HotSql;
  drop(): Promise<void>;
};

const unlimited = 1_000_000_000;

/** The secret of every measured installation. */
export const BACKSTAMP_SECRET = "the secret of a measured installation";

export async function openBenchDatabase(): Promise<Place> {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-bench-"));
  // Root runs PostgreSQL as another user, who needs access to the folder.
  await chmod(folder, 0o711);
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  const server = await startPostgres(path.join(folder, "data"));
  const maintenance = postgres(server.url, { max: 1, onnotice: () => {} });
  const [settings] = await maintenance<{ safe: boolean; version: string }[]>`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as safe,
      split_part(current_setting('server_version'), ' ', 1) as version`;
  if (!settings?.safe) throw new Error("The measured database does not wait for its disk.");
  let count = 0;
  let product: Promise<Product> | undefined;
  return {
    folder,
    postgresVersion: settings.version,
    async openDatabase() {
      const name = `bench_${++count}`;
      await maintenance`create database ${maintenance(name)}`;
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      await migrateDatabase(url.href);
      const { close, ...team } = await furnish(url.href);
      const drop = async () => {
        await close();
        await maintenance`drop database if exists ${maintenance(name)} with (force)`;
      };
      return { url: url.href, ...team, drop };
    },
    product: () => {
      product ??= buildProduct();
      return product;
    },
    async close() {
      await (await product?.catch(() => null))?.close();
      await maintenance.end({ timeout: 5 });
      await server.stop();
      process.off("exit", removeAtExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The environment of a process of the product that is measured on this database. */
export const settingsFor = (databaseUrl: string, env: Record<string, string> = {}): ConnectedSettings => ({
  ...readSettings(
    { DATABASE_URL: databaseUrl, BACKSTAMP_URL: "http://localhost", BACKSTAMP_SECRET, ...env },
    "start",
  ),
  databaseUrl,
});

/** Adds a team with a key to a migrated database, as `openDatabase` does. */
export async function furnish(
  url: string,
): Promise<Omit<BenchDatabase, "url" | "drop"> & Pick<Built, "close">> {
  const { deps, close } = buildDeps(settingsFor(url), { log: silentLog, connectionsMax: 4 });
  await admitKeyring(deps);
  const { ctx, token } = await addTeam(deps, SENDER_DOMAIN);
  return { teamId: ctx.teamId, token, ctx, hot: ctx.hot, close };
}

/** A team with a verified domain, and a key without effective limits. */
export async function addTeam(deps: Deps, domain: string): Promise<{ ctx: Ctx; token: string }> {
  const team = await createTeam(deps, { name: domain });
  const ctx: Ctx = { ...deps, teamId: team.id, actor: { kind: "operator" }, requestId: "bench" };
  await addDomain(ctx, { name: domain, verified: true });
  const { token } = await createKey(ctx, {
    name: "bench",
    scopes: ["emails:send", "emails:read"],
    domains: [domain],
    limits: { "POST /api/emails": unlimited, "GET /api/emails": unlimited, other: unlimited },
  });
  return { ctx, token };
}
