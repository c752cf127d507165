import { expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { searchedOf } from "#server/services/erasures/rows";
import { type StoredTable, TABLES } from "#server/services/erasures/tables";
import { ANN, createErasureWorld } from "../support/erasure-world";
import { forEachTest } from "../support/fixtures";

const world = forEachTest(createErasureWorld);

type Column = { table: string; name: string; type: string; isFilled: boolean; initial: string | null };

const readColumns = async (): Promise<Column[]> => world.hot<Column[]>`
  select c.table_name as "table", c.column_name as name, c.udt_name as type, c.column_default as initial,
    c.is_nullable = 'NO' or c.udt_name in ('uuid', 'timestamptz') as "isFilled"
  from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    and not exists (select from pg_inherits i where i.inhrelid = quote_ident(c.table_name)::regclass)
  order by c.table_name, c.ordinal_position`;

const isText = ({ type }: Column) => ["text", "varchar", "jsonb", "json", "bytea", "inet"].includes(type);
const isListed = (column: Column) => isText(column) || column.type.startsWith("_");

const namesOf = ({ key, keyType, own, where, timed, laterKey, keptWhile, ...columns }: StoredTable) =>
  Object.values(columns).flatMap((names) => (typeof names === "string" ? names.split(" ") : []));

/** The columns that must not contain the address after an erasure. */
const erasedIn = (table: string) => {
  const { separate, ...declared } = TABLES[table] ?? {};
  const keys = declared.keyType === "text" ? ["key"] : [];
  return [...searchedOf(declared).map(([column]) => column), ...(separate?.split(" ") ?? []), ...keys];
};

test("every column with texts, JSON or bytes has a treatment", async () => {
  const declared = Object.entries(TABLES).flatMap(([table, treatments]) =>
    namesOf(treatments).map((name) => `${table}.${name}`),
  );
  const found = (await readColumns()).filter(isListed).map(({ table, name }) => `${table}.${name}`);
  const keys = ["idempotency_keys.key", "idempotency_keys.route"];
  expect([...declared, ...keys].sort()).toEqual(found.sort());
});

/** SQL: a value of a column in a row whose ids are all `id`, so that the rows of all tables are related. */
function fillOf({ table, name, type, initial }: Column, { id, text }: { id: string; text: string }): string {
  if (name === "team_id") return `'${world.id}'`;
  if (type === "uuid") return `'${id}'`;
  if (type === "timestamptz") return "now() - interval '1 day'";
  if (name === "content_type") return "'text/plain'";
  // An entry of the suppression list has an address alone.
  const isFull = table !== "suppressions" || text === ANN;
  const value = erasedIn(table).includes(name) && isFull ? text : id.slice(-12);
  if (TABLES[table]?.document?.split(" ").includes(name) || (type === "jsonb" && !initial?.includes("{}")))
    return `'["${value}"]'`;
  if (type === "jsonb") return `'{"${value}": ["${value}"]}'`;
  if (type === "bytea") return `convert_to('To: ${value}', 'UTF8')`;
  return type === "text"
    ? `'${value}'`
    : (initial ?? (type === "bool" ? "false" : type.startsWith("_") ? "'{}'" : "1"));
}

/** Adds a row to each table with a column that is erased, in which each of them has the text. */
async function fillTables(columns: readonly Column[], row: { id: string; text: string }): Promise<void> {
  const tables = [...new Set(columns.map(({ table }) => table))];
  await world.hot.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const table of tables.filter((each) => erasedIn(each).length > 0 && each !== "erasures")) {
      const own = columns.filter(
        (column) => column.table === table && (column.isFilled || erasedIn(table).includes(column.name)),
      );
      await tx.unsafe(
        `insert into "${table}" (${own.map(({ name }) => `"${name}"`).join(", ")})
         values (${own.map((column) => fillOf(column, row)).join(", ")})`,
      );
    }
  });
}

/** The columns with the address in one of the forms in which it was stored. */
async function columnsWithAddress(columns: readonly Column[]): Promise<string[]> {
  const parts = columns.filter(isListed).map(({ table, name, type }) => {
    const text = type === "bytea" ? `encode("${name}", 'escape')` : `"${name}"::text`;
    return `select '${table}.${name}' as name where exists (select from "${table}" where lower(${text}) ~ $1)`;
  });
  const found = await world.hot.unsafe<{ name: string }[]>(parts.join(" union all "), [
    "ann[.]lee(@|%40|=40|&#64;|\\\\u0040)example[.]net",
  ]);
  return found.map(({ name }) => name).sort();
}

test("no column contains the address after its erasure, whatever column contained it, but for accounts and the team's own texts", async () => {
  const columns = await readColumns();
  const checks = await world.hot<{ table: string; name: string }[]>`
    select conrelid::regclass::text as "table", conname as name from pg_constraint
    where contype = 'c' and connamespace = 'public'::regnamespace and conislocal and not exists (
      select from pg_inherits i where i.inhrelid = conrelid)`;
  for (const { table, name } of checks)
    await world.hot.unsafe(`alter table ${table} drop constraint if exists "${name}"`);
  await fillTables(columns, { id: newId(), text: ANN });
  const escaped = ANN.replace("@", "%40");
  await fillTables(columns, { id: newId(), text: `Ask ${ANN.toUpperCase()}, ${ANN} or ?to=${escaped}` });
  const filled = columns.filter(({ table, name }) => table !== "erasures" && erasedIn(table).includes(name));
  expect(await columnsWithAddress(columns)).toEqual(
    filled.map(({ table, name }) => `${table}.${name}`).sort(),
  );

  await world.erase();

  expect(await world.erasure()).toMatchObject({ status: "done", fault: null });
  expect(await columnsWithAddress(columns)).toEqual([]);
});
