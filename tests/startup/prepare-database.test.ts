import { expect, test, vi } from "vitest";
import { MIGRATION_LOCK } from "#db/migrate";
import { silentLog } from "#server/platform/log";
import { migrateProduction } from "#server/startup/install/migrate-production";
import { prepareDatabase } from "#server/startup/install/prepare-database";
import { createWorld } from "../support/world";

test("a migration that waits for that of another process is logged once, and continues after it", async () => {
  const world = await createWorld();
  const warn = vi.fn();
  const waits = () => warn.mock.calls.filter(([event]) => event === "database.migration_waits");
  let isDone = false;
  let migrating: Promise<unknown> | undefined;
  try {
    await world.hot.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`;
      const { signal } = new AbortController();
      migrating = prepareDatabase(world.databaseUrl, { ...silentLog, warn }, signal).finally(() => {
        isDone = true;
      });
      await vi.waitFor(() => expect(waits()).toHaveLength(1), { timeout: 30_000, interval: 50 });
      expect(isDone).toBe(false);
    });
    expect(await migrating).toMatchObject({ applied: 0 });
    expect(waits()).toHaveLength(1);
  } finally {
    await world.close();
  }
});

test.each(["DATABASE_URL", "DATABASE_URL_UNPOOLED"])(
  "a production build on Vercel names %s if the database behind it does not respond in time",
  async (name) => {
    const closed = "postgres://backstamp:hunter2@127.0.0.1:9/backstamp";
    const env = {
      VERCEL: "1",
      BACKSTAMP_SECRET: "a secret of forty characters for functions",
      BACKSTAMP_URL: "https://mail.example.com",
      CRON_SECRET: "a-cron-secret-0123456789",
      DATABASE_URL: "postgres://127.0.0.1:9/pooled",
      [name]: closed,
    };
    const error = await migrateProduction(env, 600).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(
      `${name}: The database did not respond for 0.6 s. Check that it is running and that Vercel may connect to it.`,
    );
    expect(String(error)).not.toContain("hunter2");
  },
);
