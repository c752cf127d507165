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
  'alter table "teams" drop column "name"',
  'alter table "teams" rename column "name" to "title"',
  'alter table "teams" add column "motto" text not null',
  'alter table "teams" alter column "name" set data type varchar(10)',
  'create index "i" on "teams" using btree ("name")',
  'create index concurrently "i" on "teams" ("name")',
  joined('drop index concurrently if exists "i"', "select 1"),
  `alter table "teams" add constraint "c" check ("name" <> '')`,
])("%s is a breach", (sql) => {
  expect(breachesOf(sql)).toHaveLength(1);
});

test("a dropped column with its oldest release, and an index of a new table, are none", () => {
  const index = joined('create table "t" ("id" int)', 'create index "i" on "t" using btree ("id")');
  for (const sql of [joined('alter table "teams" drop column "name"', oldest), index])
    expect(breachesOf(sql)).toEqual([]);
});
