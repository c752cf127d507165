import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importSuppressionsFrom } from "#server/services/suppressions/import/import";
import { type WriteWatch, watchWrites } from "../../support/database/write-watch";
import { forAllTests } from "../../support/fixtures";
import { runCommand } from "../../support/processes/command-line";
import { createWorld, type TestTeam } from "../../support/world";
import { SUPPRESSION_FILES } from "./suppression-files";

const world = forAllTests(() => createWorld());
let others: TestTeam;
let watch: WriteWatch;
let folder: string;
beforeAll(async () => {
  others = await world.otherTeam("Others");
  watch = await watchWrites(world.hot);
  folder = await mkdtemp(path.join(tmpdir(), "backstamp-import-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: string[], input = "", env: Record<string, string> = {}) =>
  runCommand(["import", "suppressions", ...args], {
    env: { DATABASE_URL: world.databaseUrl, ...env },
    input,
  });

async function report(args: string[], input = "") {
  const { code, stdout, stderr } = await run([...args, "--json"], input);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const listOf = (team: TestTeam) =>
  world.hot<
    {
      address: string;
      origin: string;
      lists_only: boolean;
      created_at: Date;
      source_email_id: string | null;
    }[]
  >`select address, origin, lists_only, created_at, source_email_id from suppressions where team_id = ${team.id} order by address`;

describe.each(SUPPRESSION_FILES)("$title", ({ from, list, text, added, counts }) => {
  const args = ["-", "--from", from, ...(list === undefined ? [] : ["--list", list])];
  const read = added.length + Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);

  test("its rows are added", async () => {
    const before = await listOf(world);
    expect(await report(args, text)).toMatchObject({
      dry_run: false,
      from,
      read,
      created: added.length,
      existing: 0,
      skipped: 0,
      ...counts,
    });
    const rows = (await listOf(world)).filter(({ address }) =>
      before.every((row) => row.address !== address),
    );
    expect(
      rows.map(({ created_at, source_email_id, ...row }, place) => ({
        ...row,
        source: source_email_id,
        at: added[place]?.at === null ? null : created_at.toISOString(),
      })),
    ).toEqual(added.map((row) => ({ ...row, source: null })));
    expect(await listOf(others)).toEqual([]);
  });
});

test("a dry run prints the report and writes nothing, and a second import changes nothing", async () => {
  await world.otherTeam("Repeated");
  const text = "email,created\na@repeated.example,1700000000\nb@repeated.example,1700000000\n";
  const args = ["-", "--from", "sendgrid", "--list", "bounces", "--team", "Repeated"];
  await watch.since();
  const planned = await report([...args, "--dry-run"], text);
  expect(planned).toMatchObject({ dry_run: true, read: 2, created: 2, existing: 0 });
  expect(await watch.since()).toEqual([]);
  expect({ ...(await report(args, text)), dry_run: true }).toEqual(planned);
  await watch.since();
  expect(await report(args, text)).toMatchObject({ read: 2, created: 0, existing: 2, skipped: 0 });
  expect(await watch.since()).toEqual([]);
});

test("the import is in the audit log of its team, with the provider", async () => {
  const entries = await world.hot`
    select team_id, action, detail->>'from' as provider from audit_log where detail ? 'from' order by created_at limit 1`;
  expect(entries).toEqual([{ team_id: world.id, action: "suppression.imported", provider: "sendgrid" }]);
});

test("rows that cannot be read are reported by line, and all others are imported", async () => {
  const file = path.join(folder, "bounces.csv");
  const rows = [
    "email,created",
    "a@bad.example,1700000000",
    "not an address,1700000000",
    ",1700000000",
    "b@bad.example,",
    'c@bad.example,"open',
    "d@bad.example",
  ];
  await writeFile(file, [...rows, "x".repeat(20_000)].join("\n"));
  const done = await report([file, "--from", "sendgrid", "--list", "bounces", "--team", "Others"]);
  expect(done).toMatchObject({ read: 5, created: 2, skipped: 3, team: "Others" });
  expect(done.problems).toMatchObject([
    { line: 3, name: "not an address" },
    { line: 4, name: null, reason: "The row has no `email`." },
    { line: 6, name: null, reason: expect.stringContaining("Check its quotation marks") },
  ]);
  expect((await listOf(others)).map(({ address }) => address)).toEqual(["a@bad.example", "b@bad.example"]);
  expect((await listOf(world)).some(({ address }) => address.endsWith("@bad.example"))).toBe(false);
});

test("an entry that blocks all email replaces one of the same file that blocks only email with an unsubscribe link", async () => {
  const rows = [
    ["*", "all@both.example"],
    ["news", "wide@both.example"],
    ["*", "wide@both.example"],
    ["news", "all@both.example"],
  ];
  const text = JSON.stringify({ items: rows.map(([tag, address]) => ({ address, tags: [tag] })) });
  for (const more of [["--dry-run"], []])
    expect(await report(["-", "--from", "mailgun", ...more], text)).toMatchObject({
      created: 2,
      repeated: 2,
      existing: 0,
    });
  expect((await listOf(world)).filter(({ address }) => address.endsWith("@both.example"))).toMatchObject([
    { address: "all@both.example", lists_only: false },
    { address: "wide@both.example", lists_only: false },
  ]);
});

test("JSON may begin with a byte order mark, and must be UTF-8", async () => {
  const text = JSON.stringify({ items: [{ address: "marked@bom.example", tags: ["*"] }] });
  expect(await report(["-", "--from", "mailgun"], `\uFEFF${text}`)).toMatchObject({ created: 1 });
  const file = path.join(folder, "latin1.json");
  await writeFile(file, Buffer.from(text.replace("marked", "märked"), "latin1"));
  const rejected = await run([file, "--from", "mailgun"]);
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringContaining("not valid UTF-8") });
  expect((await listOf(world)).filter(({ address }) => address.endsWith("@bom.example"))).toHaveLength(1);
});

test("a long file is read and written in batches while it arrives, with one entry in the audit log", async () => {
  const team = await world.otherTeam("Large");
  const count = 8_000;
  const lines: number[] = [];
  async function* bytes() {
    yield Buffer.from("address,code\n");
    for (let line = 0; line < count; line += 1_000) {
      lines.push(line);
      yield Buffer.from(Array.from({ length: 1_000 }, (_, n) => `r${line + n}@large.example,550\n`).join(""));
    }
  }
  const progress: { read: number; arrived: number }[] = [];
  const done = await importSuppressionsFrom(team.ctx, {
    from: "mailgun",
    bytes: bytes(),
    list: null,
    isDryRun: false,
    onRead: (read) => progress.push({ read, arrived: lines.length * 1_000 }),
  });
  expect(done).toMatchObject({ read: count, created: count, created_by_reason: { bounce: count } });
  expect(progress.map(({ read }) => read)).toEqual([5_000, count]);
  expect(progress[0]?.arrived).toBeLessThan(count);
  expect(await listOf(team)).toHaveLength(count);
  const entries =
    await world.hot`select detail from audit_log where team_id = ${team.id} and detail ? 'from'`;
  expect(entries).toEqual([{ detail: { from: "mailgun", count } }]);
});

test.each([
  [["missing.csv", "--from", "resend"], "missing.csv cannot be read (ENOENT)"],
  [["-", "--from", "sendgrid"], "--list bounces"],
  [["-", "--from", "mailgun"], "--list complaints"],
])("import suppressions %s says what would work", async (args, sentence) => {
  const { code, stdout, stderr } = await run(args, "email,address,created\nann@x.example,ann@x.example,1\n");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(sentence);
});
