import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { workers } from "#db/schema/deliveries";
import { createRelay } from "#server/mail/transport/relay";
import { newId } from "#server/platform/ids";
import { beginBackup, completeBackup } from "#server/services/backups/record";
import { recordRelayFault } from "#server/services/relays/health";
import { pauseRelay } from "#server/services/relays/write";
import { acquireLock } from "#server/startup/launcher/lock";
import { targetOf } from "../mail/relay-world";
import { installationSecret } from "../support/deps";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { relayTo } from "../support/relays";
import { startDnsTestServer } from "../support/servers/dns-test-server";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";
import { emptyFolder, runDoctor } from "./doctor";

const world = forAllTests(() => createWorld({ transportKind: "none" }));

const wait = { timeout: 60_000 };

const doctor = (env: Record<string, string>) => runDoctor(world, env);

test("settings that no mode accepts are a finding, with the exit code of an error", wait, async () => {
  const done = await doctor({ PORT: "many" });
  expect(done.code).toBe(2);
  expect(done.of("settings")).toMatchObject([
    { status: "error", message: expect.stringContaining('PORT: "many"') },
  ]);
  expect(done.of("database")).toMatchObject([{ status: "not_checked" }]);
});

test("a doctor that fails has the exit code of an error and says why", wait, async () => {
  const folder = await emptyFolder();
  await writeFile(path.join(folder, "secrets.json"), "[]");
  const { code, stderr } = await runCommand(["doctor", "--json"], {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_URL: world.baseUrl, BACKSTAMP_DATA_DIR: folder },
  });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^backstamp: ./) });
});

test("the embedded database of a stopped Backstamp is not started, created or migrated", wait, async () => {
  const folder = await emptyFolder();
  const done = await doctor({ DATABASE_URL: "", BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: folder });
  expect(await readdir(folder)).toEqual([]);
  expect(done.of("database")).toMatchObject([
    {
      status: "error",
      message: expect.stringContaining("not running"),
      advice: expect.stringContaining("Start"),
    },
  ]);
  expect(done.of("schema")).toMatchObject([{ status: "not_checked" }]);
});

/** The settings of a running Backstamp whose embedded database is that of `world`. */
async function embedded(purpose = "start", { databaseUrl, baseUrl } = world) {
  const folder = await emptyFolder();
  const taken = await acquireLock(folder, purpose);
  if (!("lock" in taken)) throw new Error("the folder is in use");
  onTestFinished(() => taken.lock.release());
  taken.lock.describe({ databaseUrl, publicUrl: baseUrl });
  return { DATABASE_URL: "", BACKSTAMP_SECRET: installationSecret, BACKSTAMP_DATA_DIR: folder };
}

test("the database of the running Backstamp is used, and nothing in it changes", wait, async () => {
  const secrets = () => world.hot`select id from installation_secrets`;
  await world.hot`delete from installation_secrets`;
  const done = await doctor(await embedded());
  expect(done.of("database")).toMatchObject([{ status: "ok" }]);
  expect([...(await secrets())]).toEqual([]);
});

test("no recent backup is a warning for the embedded database, and not for a server", wait, async () => {
  const settings = await embedded();
  const none = [
    {
      status: "warning",
      message: "No backups are scheduled, and none was made in the last 7 days.",
      advice: expect.stringContaining("BACKSTAMP_BACKUP_TO"),
    },
  ];
  expect((await doctor(settings)).of("backups")).toMatchObject(none);
  expect((await doctor({})).of("backups")).toMatchObject([{ status: "not_checked" }]);
  const scheduled = (await doctor({ BACKSTAMP_BACKUP_TO: settings.BACKSTAMP_DATA_DIR })).of("backups");
  expect(scheduled).toMatchObject([{ status: "warning", message: expect.stringContaining("unencrypted") }]);

  const id = await beginBackup(world.deps, { name: "manual", location: "/backups" });
  await completeBackup(world.deps, id, { sizeBytes: 1, hasSecret: true, fault: null });
  await world.hot`update backups set started_at = now() - interval '6 days'`;
  onTestFinished(async () => void (await world.hot`delete from backups`));
  expect((await doctor(settings)).of("backups")).toMatchObject([
    { status: "ok", message: "No backups are scheduled. The last one is 144 hours old." },
  ]);
  await world.hot`update backups set started_at = started_at - interval '25 hours'`;
  expect((await doctor(settings)).of("backups")).toMatchObject(none);
});

test("the state of SMTP_URL is reported if it is paused, with advice that applies to it", wait, async () => {
  const server = closeAfterTest(await startSmtpTestServer());
  const url = `smtp://127.0.0.1:${server.port}`;
  const relay = { ...createRelay(targetOf(url)), isSmtpUrl: true };
  await recordRelayFault(world.hot, relay, { fault: "535", shouldPauseNow: true });
  const done = await doctor({ SMTP_URL: url });
  expect(done.of("smtp")).toMatchObject([
    { subject: "SMTP_URL", status: "warning", message: expect.stringContaining("paused after faults") },
  ]);
  expect(JSON.stringify(done.of("smtp"))).not.toContain("relay test");
});

test("a relay that the operator paused is reported with the command that resumes it", wait, async () => {
  const server = closeAfterTest(await startSmtpTestServer());
  const relay = await relayTo(world.deps, server, { name: "main" });
  await pauseRelay(world.deps, relay, "Test");
  expect((await doctor({})).of("smtp")).toMatchObject([
    { status: "warning", advice: expect.stringContaining("backstamp relay resume") },
  ]);
});

test("partitions that need more locks than PostgreSQL has are a warning with the setting", wait, async () => {
  expect((await doctor({})).of("database")).toMatchObject([{ status: "ok" }]);
  await world.hot.begin(async (tx) => {
    await tx`set local allow_system_table_mods = on`;
    await tx`insert into pg_inherits (inhrelid, inhparent, inhseqno, inhdetachpending)
      select 2000000000 + n, 2000000000, 1, false from generate_series(1, 20000) as n`;
  });
  expect((await doctor({})).of("database")).toMatchObject([
    {
      status: "warning",
      message: expect.stringContaining("max_locks_per_transaction is 512"),
      advice: expect.stringContaining("max_locks_per_transaction = 1024"),
    },
  ]);
});

test("a wrong database login is reported once, with what to do", wait, async () => {
  const url = new URL(world.databaseUrl);
  url.pathname = "/no_such_database";
  const done = await doctor({ DATABASE_URL: url.href });
  expect(done.of("database")).toMatchObject([
    { status: "error", message: expect.stringContaining("does not exist"), advice: "Create it first." },
  ]);
  for (const check of ["schema", "clock", "disk", "backups", "secret", "workers", "domains"])
    expect(done.of(check)).toMatchObject([{ status: "not_checked" }]);
});

test("dead Redis and a backup folder that cannot be written are faults", wait, async () => {
  const done = await doctor({ REDIS_URL: "redis://127.0.0.1:9", BACKSTAMP_BACKUP_TO: "/proc/backups/daily" });
  expect(done.of("rate_limits")).toMatchObject([
    { status: "warning", advice: expect.stringContaining("REDIS_URL") },
  ]);
  expect(done.of("backups")).toMatchObject([
    { status: "error", message: expect.stringContaining("its parent does not exist") },
  ]);
});

test("beside a running `npm run dev` nothing of production is missing", wait, async () => {
  const dns = closeAfterTest(await startDnsTestServer(() => null));
  const fresh = closeAfterTest(await createWorld({ transportKind: "none" }));
  await fresh.deps.db.insert(workers).values({ id: newId(), host: "test", pid: 1, transport: "capture" });
  await fresh.hot`delete from domains where name <> 'backstamp.test'`;
  const done = await doctor({
    ...(await embedded("dev", fresh)),
    BACKSTAMP_URL: "",
    BACKSTAMP_DNS_SERVERS: `127.0.0.1:${dns.port}`,
  });
  const faults = done.report.findings.filter(({ status }) => ["warning", "error"].includes(status));
  expect({ code: done.code, faults }).toEqual({ code: 0, faults: [] });
});
