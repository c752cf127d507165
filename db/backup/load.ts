import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReservedSql } from "postgres";
import { type Catalog, quoteName, quoteNames, readCatalog } from "./catalog";
import { inLongTransaction } from "./session";

/** The transaction in which a backup is loaded. */
export type Loading = {
  /** Backstamp's tables that the schema has. A backup can contain others, which Backstamp did not create. */
  tables: ReadonlySet<string>;
  tx: ReservedSql;
  /** Adds rows in the format of `Snapshot.readTable`. Can be called repeatedly for one table. */
  loadRows(table: string, columns: readonly string[], rows: Readable): Promise<void>;
};

export type LoadInput = {
  /** Throws if the rows must not be replaced. Runs first. */
  check(tx: ReservedSql): Promise<void>;
  load(loading: Loading): Promise<void>;
  /** Runs last, with all triggers and foreign keys. */
  complete?(loading: Pick<Loading, "tx">): Promise<void>;
  /**
   * The names of Backstamp's tables. The schema can also contain tables of other programs, which are not
   * changed.
   */
  own: ReadonlySet<string>;
};

/**
 * Replaces all rows of Backstamp's tables by those that `load` adds, in one transaction: all or nothing. The
 * schema must be that of the backup. Triggers do not fire, and foreign keys are checked at the end, so tables
 * can be loaded in any order. This needs the owner of the tables, not a superuser.
 */
export async function loadBackup(
  url: string,
  backup: Catalog,
  { check, load, complete, own }: LoadInput,
): Promise<void> {
  await inLongTransaction(url, { mode: "", name: "backstamp restore" }, async (tx) => {
    await check(tx);
    const { tables } = await readCatalog(tx);
    const names = new Set(tables.map(({ name }) => name).filter((name) => own.has(name)));
    const isOwn = ({ table }: { table: string }) => names.has(table);
    // Without CASCADE: a table of another program that refers to one of these would lose its rows too.
    await tx.unsafe(`truncate ${quoteNames([...names])}`);
    const constraints = (await tx.unsafe<Constraint[]>(FOREIGN_KEYS)).filter(isOwn);
    for (const { table, name } of constraints)
      await tx.unsafe(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`);
    const triggers = (await tx.unsafe<Trigger[]>(TRIGGERS)).filter(isOwn);
    for (const { table, name } of triggers)
      await tx.unsafe(`alter table ${quoteName(table)} disable trigger ${quoteName(name)}`);
    await replacePartitions(tx, backup, names);

    await load({
      tables: names,
      tx,
      loadRows: async (table, columns, rows) => {
        const copy = `copy ${quoteName(table)} (${quoteNames(columns)}) from stdin`;
        const query = tx.unsafe(copy);
        const output = await query.writable();
        // The driver resolved the query with its stream, and an error after the last row then reaches
        // neither.
        const failed = new Promise<never>((_, reject) => Object.assign(query, { reject }));
        await Promise.race([pipeline(rows, output), failed]);
      },
    });

    const sequences = (await tx.unsafe<Sequence[]>(SEQUENCES)).filter(isOwn).map(({ name }) => name);
    for (const { name, value } of backup.sequences)
      if (sequences.includes(name))
        await tx.unsafe("select setval(to_regclass(quote_ident($1)), $2::bigint)", [name, value]);
    for (const { table, name, mode } of triggers)
      await tx.unsafe(`alter table ${quoteName(table)} ${MODES[mode]} trigger ${quoteName(name)}`);
    for (const { table, name, definition } of constraints)
      await tx.unsafe(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`);
    await complete?.({ tx });
  });
}

type Sequence = { table: string; name: string };

/** The sequences of columns. */
const SEQUENCES = `
  select s.relname as name, r.relname as "table"
  from pg_class s join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
    join pg_class r on d.refclassid = 'pg_class'::regclass and r.oid = d.refobjid
  where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace`;

type Constraint = { table: string; name: string; definition: string };

/** Those of partitions belong to the constraint of their parent. */
const FOREIGN_KEYS = `
  select r.relname as "table", c.conname as name, pg_get_constraintdef(c.oid) as definition
  from pg_constraint c join pg_class r on r.oid = c.conrelid
  where c.contype = 'f' and c.conparentid = 0 and r.relnamespace = current_schema()::regnamespace
  order by 1, 2`;

type Trigger = { table: string; name: string; mode: keyof typeof MODES };

/** How a trigger fires (`pg_trigger.tgenabled`), as the statement that restores it. */
const MODES = { O: "enable", A: "enable always", R: "enable replica" } as const;

const TRIGGERS = `
  select r.relname as "table", t.tgname as name, t.tgenabled::text as mode
  from pg_trigger t join pg_class r on r.oid = t.tgrelid
  where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D' and r.relnamespace = current_schema()::regnamespace
  order by 1, 2`;

/** Partitions are created as rows arrive, so those of the migrations can differ from those of the backup. */
async function replacePartitions(
  tx: ReservedSql,
  { partitions }: Catalog,
  names: ReadonlySet<string>,
): Promise<void> {
  const { partitions: existing } = await readCatalog(tx);
  for (const { name, parent } of existing)
    if (names.has(parent)) await tx.unsafe(`drop table ${quoteName(name)}`);
  for (const { name, parent, bound, options } of partitions) {
    if (!names.has(parent)) continue;
    await tx.unsafe(
      `create table ${quoteName(name)} partition of ${quoteName(parent)} ${bound}` +
        (options ? ` with (${options.join(", ")})` : ""),
    );
  }
}
