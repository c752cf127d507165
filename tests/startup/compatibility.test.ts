import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { installationSecret } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const reason =
  /The database was migrated for Backstamp 99\.1\.0 or newer, and this is \d+\.\d+\.\d+\. Install 99\.1\.0 or newer/;

const world = forAllTests(() => createWorld());

const settings = () => ({
  DATABASE_URL: world.databaseUrl,
  BACKSTAMP_URL: "http://localhost:3000",
  BACKSTAMP_SECRET: installationSecret,
});

/** As a migration of a newer release does that removes what older ones use. */
const setOldestRelease = (version: string) =>
  world.hot.unsafe(
    `create or replace function oldest_release() returns text language sql immutable as $$ select '${version}' $$`,
  );

test("a build that the schema no longer supports does not start, migrate or deliver, and says what to install", async () => {
  await setOldestRelease("99.1.0");
  const before = await world.hot`select * from drizzle.__drizzle_migrations`;
  const env = settings();
  for (const command of ["migrate", "worker"]) {
    const { code, stderr, stdout } = await runCommand([command], { env });
    expect([command, code, stdout]).toEqual([command, 1, ""]);
    expect(stderr).toMatch(reason);
  }
  expect(await world.hot`select * from drizzle.__drizzle_migrations`).toEqual(before);
});

test("a worker does not start while the database lacks a migration of its build", async () => {
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at - 1`;
  await setOldestRelease("0.2.0");
  const { code, stderr } = await runCommand(["worker"], { env: settings() });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("The database is not migrated"),
  });
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at + 1`;
});

test("a round of delivery of such a build delivers nothing, and a failing call names the release", async () => {
  const { id } = await world.send();
  const { token } = await world.key();
  await setOldestRelease("99.1.0");
  await expect(tick(world.withTransport(), { budgetMs: 5_000 })).rejects.toThrow(reason);
  expect(await world.email(id)).toMatchObject({ status: "queued" });
  await world.hot`alter table templates rename to templates_of_another_release`;
  expect(await world.api("GET", "/api/templates", { token })).toMatchObject({
    status: 503,
    body: { reason: "release_unsupported", error: expect.stringMatching(reason) },
  });
  await world.hot`alter table templates_of_another_release rename to templates`;
});

test("a process that runs while the schema drops its release reports that it is not ready", async () => {
  await setOldestRelease("99.1.0");
  expect(await world.api("GET", "/api/health/ready")).toMatchObject({
    status: 503,
    body: { reason: "release_unsupported", error: expect.stringMatching(reason) },
  });
});

test.each(["0.0.1", "0.1.99", "0.2.0"])("a schema for %s and newer supports this build", async (version) => {
  await setOldestRelease(version);
  const env = { DATABASE_URL: world.databaseUrl };
  expect(await runCommand(["migrate"], { env })).toMatchObject({
    code: 0,
    stdout: "Already up to date.\n",
  });
});
