import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../db/migrations", import.meta.url));
// The first migration creates everything, so no process of an older release uses its tables.
const [, ...files] = readdirSync(folder)
  .filter((name) => name.endsWith(".sql"))
  .sort();

/** What an older release, which still runs, could need. */
const CONTRACTS =
  /\bdrop\s+(table|column|function|trigger|type|view)\b|\brename\b|\bset\s+not\s+null\b|\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b|\badd\s+column\b(?!.*\bdefault\b).*\bnot\s+null\b/i;
const RECORDS = /create\s+or\s+replace\s+function\s+"?oldest_release"?\(\)/i;

/** The breaches of the checklist of a migration in CONTRIBUTING. */
function breachesOf(sql: string): string[] {
  const statements = sql
    .split("--> statement-breakpoint")
    .map((text) => text.replaceAll(/^--.*$/gm, "").trim());
  const find = (pattern: RegExp) => statements.flatMap((text) => pattern.exec(text)?.[1] ?? []);
  const created = find(/^create table (?:if not exists )?"?(\w+)/i);
  const built = find(/^create (?:unique )?index concurrently "?(\w+)/i);
  const dropped = find(/^drop index concurrently if exists "?(\w+)/i);
  const indexed = find(/^create (?:unique )?index (?!concurrently).*? on (?!only)(?:"public"\.)?"?(\w+)/i);
  const constrained = find(
    /^alter table (?:"public"\.)?"?(\w+)"? add constraint (?!.*(?:not valid|using index))/i,
  );
  const isNew = (table: string) => created.includes(table);
  return [
    ...(statements.some((text) => CONTRACTS.test(text)) && !statements.some((text) => RECORDS.test(text))
      ? ["contracts without oldest_release()"]
      : []),
    ...indexed
      .filter((table) => !isNew(table))
      .map((table) => `blocks writes of ${table} while an index is built`),
    ...constrained
      .filter((table) => !isNew(table))
      .map((table) => `scans ${table} under a lock: use NOT VALID`),
    ...(built.length + dropped.length > 0 && built.length + dropped.length < statements.length
      ? ["has other statements beside a concurrent index"]
      : []),
    ...built
      .filter((name) => !dropped.includes(name))
      .map((name) => `cannot be repeated: drop ${name} first`),
  ];
}

test.each(files)("%s can be applied while the release before it runs", (file) => {
  expect(breachesOf(readFileSync(path.join(folder, file), "utf8"))).toEqual([]);
});

const oldest = `create or replace function "oldest_release"() returns text language sql immutable as $$ select '0.3.0' $$`;
const joined = (...statements: string[]) => statements.join(";--> statement-breakpoint\n");

test.each([
  ["a dropped column", 'alter table "teams" drop column "name"', 1],
  ["a dropped column with its oldest release", joined('alter table "teams" drop column "name"', oldest), 0],
  ["a renamed column", 'alter table "teams" rename column "name" to "title"', 1],
  ["a column that older releases do not fill", 'alter table "teams" add column "motto" text not null', 1],
  ["a column with a default", `alter table "teams" add column "motto" text default '' not null`, 0],
  ["a nullable column", 'alter table "teams" add column "motto" text', 0],
  ["another type", 'alter table "teams" alter column "name" set data type varchar(10)', 1],
  ["an index of an existing table", 'create index "i" on "teams" using btree ("name")', 1],
  ["a partitioned index without its parts", 'create index "i" on only "teams" using btree ("name")', 0],
  [
    "an index of a new table",
    joined('create table "t" ("id" int)', 'create index "i" on "t" using btree ("id")'),
    0,
  ],
  [
    "a concurrent index",
    joined('drop index concurrently if exists "i"', 'create index concurrently "i" on "teams" ("name")'),
    0,
  ],
  ["a concurrent index that is not dropped first", 'create index concurrently "i" on "teams" ("name")', 1],
  [
    "a concurrent index beside another statement",
    joined(
      'drop index concurrently if exists "i"',
      'create index concurrently "i" on "teams" ("name")',
      "select 1",
    ),
    1,
  ],
  [
    "an index that is dropped concurrently beside another statement",
    joined('drop index concurrently if exists "i"', "select 1"),
    1,
  ],
  ["a checked constraint", `alter table "teams" add constraint "c" check ("name" <> '')`, 1],
  [
    "a constraint that is validated later",
    `alter table "teams" add constraint "c" check ("name" <> '') not valid`,
    0,
  ],
  [
    "a key from an index that exists",
    `alter table "teams" add constraint "c" primary key using index "c"`,
    0,
  ],
])("%s", (_, sql, breaches) => {
  expect(breachesOf(sql)).toHaveLength(breaches);
});
