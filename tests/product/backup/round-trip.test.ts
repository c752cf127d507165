import { execFileSync } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { type Catalog, quoteName, readCatalog } from "#db/backup/catalog";
import type { HotSql } from "#db/client";
import { listPartitions } from "#db/partitions";
import { EMAIL_TABLES, maintainPartitions, WEBHOOK_TABLES } from "#server/delivery/housekeeping/partitions";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { installationSecret } from "../../support/deps";
import { forAllTests } from "../../support/fixtures";
import { createBackupWorld } from "./backup-world";

const world = forAllTests(() => createBackupWorld());
beforeAll(async () => {
  const { source } = world;
  await createWebhook(source.ctx, { url: "https://example.com/hook", events: ["email.queued"] } as never);
  await maintainPartitions(source.withTransport(null), () => true);
  for (const subject of ["tab\tand \\N and \\", "line\nbreak", "Grüße 🙂", "\u2028"])
    await source.send({ subject, text: `${subject}\r\n\\.\r\n`, tags: [{ name: "a", value: "b" }] });
});

/** The ranges of all partitions. Those of the target are others before the restore. */
const rangesOf = async (hot: HotSql) =>
  Object.fromEntries(
    await Promise.all(
      [...EMAIL_TABLES, ...WEBHOOK_TABLES].map(async ({ table }) => [
        table,
        (await listPartitions(hot, table)).map(({ name, from, to }) => ({ name, from, to })),
      ]),
    ),
  );

/** Restoring changes these on purpose. */
const CHANGED = new Set(["deliveries", "queue", "restores", "backups"]);

async function contentOf(hot: HotSql): Promise<Record<string, unknown>> {
  const catalog = await readCatalog(hot as never);
  const content: Record<string, unknown> = {};
  for (const { name } of catalog.tables) {
    if (CHANGED.has(name)) continue;
    const [row] = await hot.unsafe(
      `select count(*)::int as rows, md5(string_agg(t::text, '|' order by t::text)) as hash from ${quoteName(name)} t`,
    );
    content[name] = row;
  }
  return content;
}

const structureOf = async (hot: HotSql) => ({
  constraints: await hot`
    select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as definition, convalidated
    from pg_constraint where connamespace = current_schema()::regnamespace and not (contype = 'p'
      and conparentid <> 0) order by 1, 2`,
  triggers: await hot`
    select tgrelid::regclass::text as "table", tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
});

test("a restored installation has every row, constraint and trigger, and its secret", async () => {
  const file = await world.backUp("whole.tar.gz.age");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readFile(file)).subarray(0, 21).toString()).toBe("age-encryption.org/v1");
  const target = await world.target();
  const done = await target.backstamp(["restore", file], { BACKSTAMP_SECRET: "" });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/Restored \d+ rows/) });
  const { deps } = target.open();
  expect(await contentOf(deps.hot)).toEqual(await contentOf(world.source.hot));
  expect(await structureOf(deps.hot)).toEqual(await structureOf(world.source.hot));
  expect((await listPartitions(deps.hot, "emails")).length).toBeGreaterThan(1);
  expect(await rangesOf(deps.hot)).toEqual(await rangesOf(world.source.hot));
  const secrets = JSON.parse(await readFile(world.fileOf("data/secrets.json"), "utf8"));
  expect(secrets).toMatchObject({ secret: expect.stringContaining("secret of an installation") });
  expect((await stat(world.fileOf("data/secrets.json"))).mode & 0o777).toBe(0o600);
  expect(await deps.hot`select held from restores`).toEqual([{ held: 4 }]);
});

test("a backup while email flows contains each accepted email completely", async () => {
  const { source } = world;
  let isOver = false;
  const flow = (async () => {
    let sent = 0;
    for (; !isOver || sent < 20; sent++) await source.send({ to: ["a@example.net", "b@example.net"] });
    return sent;
  })();
  const file = await world.backUp("flow.tar.gz");
  isOver = true;
  await flow;
  const target = await world.target();
  expect(await target.backstamp(["restore", file])).toMatchObject({ code: 0 });
  const { hot } = target.open().deps;
  const [row] = await hot`
    select count(*)::int as emails,
      count(*) filter (where not exists (select from email_bodies b where b.email_id = e.id))::int as "withoutBody",
      count(*) filter (where not exists (select from email_events v where v.email_id = e.id))::int as "withoutEvent",
      count(*) filter (where (select count(*) from deliveries d where d.email_id = e.id)
        <> jsonb_array_length(e."to"))::int as "incomplete"
    from emails e`;
  expect(row).toMatchObject({ withoutBody: 0, withoutEvent: 0, incomplete: 0 });
  expect(row?.emails).toBeGreaterThanOrEqual(4);
  expect(row?.emails).toBeLessThanOrEqual(4 + (await flow));
});

test("without a passphrase, tar and gzip open the backup, it has no secret, and the command warns", async () => {
  const file = world.fileOf("plain.tar.gz");
  const done = await world.backstamp(["backup", file], { BACKSTAMP_BACKUP_PASSPHRASE: "" });
  expect(done).toMatchObject({ code: 0, stderr: expect.stringMatching(/WARNING: .*does not contain/) });
  const names = execFileSync("tar", ["-tzf", file]).toString().trim().split("\n");
  expect(names).toContain("tables/emails/000001.copy");
  expect([names[0], names.at(-1)]).toEqual(["backup.json", "checksums.json"]);
  expect(names).not.toContain("secrets.json");
  const header = JSON.parse(execFileSync("tar", ["-xzOf", file, "backup.json"]).toString()) as Catalog;
  expect(header.tables.find(({ name }) => name === "teams")?.columns).toContain("unknown_policy");

  const target = await world.target();
  const env = { BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: world.fileOf("fresh") };
  const lacking = await target.backstamp(["restore", file], env);
  expect(lacking).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not contain .* secret/) });
  const other = await target.backstamp(["restore", file], { ...env, BACKSTAMP_SECRET: "x".repeat(40) });
  expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not that of the backup/) });
  expect(await target.open().deps.hot`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
  expect(await target.backstamp(["restore", file])).toMatchObject({ code: 0 });
});

test("an existing file is not replaced, and a failed backup leaves nothing", async () => {
  const file = world.fileOf("kept");
  await writeFile(file, "mine");
  const done = await world.backstamp(["backup", file]);
  expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining("exists") });
  expect(await readFile(file, "utf8")).toBe("mine");
  const failed = await world.backstamp(["backup", world.fileOf("none")], {
    BACKSTAMP_SECRET: "",
    BACKSTAMP_DATA_DIR: world.fileOf("empty"),
  });
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("BACKSTAMP_SECRET is not set") });
  expect((await readdir(world.folder)).filter((name) => /none|partial/.test(name))).toEqual([]);
});

test("former secrets of the environment are in the backup, and a restore writes or prints them", async () => {
  const [old, older] = ["o".repeat(40), "p".repeat(40)];
  const file = await world.backUp("former.tar.gz.age", { BACKSTAMP_SECRETS_OLD: `${old},${older}` });
  const target = await world.target();
  const dataDir = world.fileOf("former");
  const env = { BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: dataDir };
  expect(await target.backstamp(["restore", file], env)).toMatchObject({ code: 0 });
  const written = JSON.parse(await readFile(`${dataDir}/secrets.json`, "utf8"));
  expect(written).toMatchObject({ secret: installationSecret, oldSecrets: [old, older] });

  // The secret of the backup is a former one of this installation.
  const rotated = {
    BACKSTAMP_SECRET: "n".repeat(40),
    BACKSTAMP_SECRETS_OLD: JSON.stringify([installationSecret]),
  };
  const done = await (await world.target()).backstamp(["restore", file], rotated);
  expect(done).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      `BACKSTAMP_SECRETS_OLD='${JSON.stringify([installationSecret, old, older])}'`,
    ),
  });
});

test("after a restore without the secret, the next command is printed", async () => {
  const target = await world.target();
  const lost = { BACKSTAMP_SECRET: "x".repeat(40) };
  const done = await target.backstamp(["restore", world.fileOf("plain.tar.gz"), "--without-secret"], lost);
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining("secret rotate --lost") });
  expect(await target.backstamp(["secret", "rotate", "--lost"], lost)).toMatchObject({ code: 0 });
});
