import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRoleDatabase } from "../support/database/role-database";
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from "../support/processes/pgbouncer";
import { runProgram } from "../support/processes/program";

const suite = `the last step of a build on Vercel${pgbouncerMissing ? ` (skipped: ${pgbouncerMissing})` : ""}`;

describe.skipIf(pgbouncerMissing)(suite, () => {
  let database: Awaited<ReturnType<typeof createRoleDatabase>>;
  let pooler: PgBouncer;
  beforeEach(async () => {
    database = await createRoleDatabase();
    pooler = await startPgBouncer(database.url);
  });
  afterEach(async () => {
    await pooler.stop();
    await database.drop();
  });

  const build = (env: Record<string, string>) =>
    runProgram("server/startup/install/prepare-production.ts", [], {
      env: {
        VERCEL: "1",
        DATABASE_URL: pooler.url,
        BACKSTAMP_SECRET: "a secret of forty characters for functions",
        BACKSTAMP_URL: "https://mail.example.com",
        CRON_SECRET: "a-cron-secret-0123456789",
        ...env,
      },
    });

  /** The result. A build that waits for another one, or for the database, logs that before it. */
  const lastLineOf = ({ stdout }: { stdout: string }) => stdout.trimEnd().split("\n").at(-1);

  async function isMigrated(): Promise<boolean> {
    const sql = postgres(database.url, { max: 1 });
    const [row] = await sql`select to_regclass('public.emails') is not null as "isMigrated"`;
    await sql.end();
    return row?.isMigrated;
  }

  test("a preview does not migrate, and needs no settings", async () => {
    const { code, stdout } = await build({ VERCEL_ENV: "preview", CRON_SECRET: "short" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("is not migrated") });
    expect(await isMigrated()).toBe(false);
  });

  test("production builds at the same time migrate once, through the pooler", async () => {
    const builds = await Promise.all([1, 2].map(() => build({ VERCEL_ENV: "production" })));
    expect(builds.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      builds.map(() => ({ code: 0, stderr: "" })),
    );
    expect(await isMigrated()).toBe(true);
    expect(builds.map(lastLineOf).sort()).toEqual([
      "The database is up to date.",
      "The database was migrated.",
    ]);
  });

  test("a production build migrates without the pooler if it can, and limits the role that connects through it", async () => {
    await pooler.stop();
    const built = await build({ VERCEL_ENV: "production", DATABASE_URL_UNPOOLED: database.url });
    expect(built).toMatchObject({ code: 0, stderr: "" });
    expect(lastLineOf(built)).toBe("The database was migrated.");
    const sql = postgres(database.url, { max: 1 });
    expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: "30s" }]);
    await sql.end();
  });
});
