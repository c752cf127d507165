import type { ReservedSql } from "postgres";

/** A table with the columns that a backup contains: all but generated ones. */
export type BackupTable = { name: string; columns: string[]; isPartitioned: boolean };

/** A partition, as the statement that creates it needs it: `bound` is `FOR VALUES …` or `DEFAULT`. */
export type BackupPartition = { name: string; parent: string; bound: string; options: string[] | null };

/**
 * What a backup records of the database beside the rows. Migrations are identified by their time and hash.
 */
export type Catalog = {
  /** PostgreSQL's version, such as `18.4`. */
  postgres: string;
  /** The time of the snapshot, ISO 8601. */
  takenAt: string;
  tables: BackupTable[];
  partitions: BackupPartition[];
  sequences: { name: string; value: string }[];
  migrations: { hash: string; at: string }[];
};

/** Objects of an extension are created by the extension. */
const notOfExtension = (id: string) => `
  not exists (select from pg_depend x where x.classid = 'pg_class'::regclass and x.objid = ${id} and x.deptype = 'e')`;

const CATALOG = `
  select current_setting('server_version') as "postgres", to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "takenAt",
    (select coalesce(json_agg(json_build_object('name', c.relname, 'isPartitioned', c.relkind = 'p', 'columns', (
        select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      )) order by c.relname), '[]')
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and ${notOfExtension("c.oid")}) as tables,
    (select coalesce(json_agg(json_build_object('name', c.relname, 'parent', p.relname, 'options', to_json(c.reloptions),
        'bound', pg_get_expr(c.relpartbound, c.oid)) order by c.relname), '[]')
     from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
     where c.relnamespace = current_schema()::regnamespace and c.relispartition and c.relkind = 'r') as partitions,
    (select coalesce(json_agg(json_build_object('name', s.sequencename, 'value', s.last_value::text)), '[]')
     from pg_sequences s where s.schemaname = current_schema() and s.last_value is not null) as sequences,
    (select coalesce(json_agg(json_build_object('hash', m.hash, 'at', m.created_at::text) order by m.created_at), '[]')
     from drizzle.__drizzle_migrations m) as migrations`;

/**
 * Reads the catalog of the connection's schema. Fails with SQLSTATE 42P01 or 3F000 if the database was never
 * migrated.
 */
export async function readCatalog(sql: Pick<ReservedSql, "unsafe">): Promise<Catalog> {
  const [catalog] = await sql.unsafe<Catalog[]>(CATALOG);
  if (!catalog) throw new TypeError("a select without from returned no row");
  return catalog;
}

/** The names of all tables in the connection's schema, except those of extensions. */
export async function listTables(sql: Pick<ReservedSql, "unsafe">): Promise<string[]> {
  const rows = await sql.unsafe<{ name: string }[]>(`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'f') and not c.relispartition
      and ${notOfExtension("c.oid")}
    order by 1`);
  return rows.map(({ name }) => name);
}

/** A name as an SQL identifier. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const quoteNames = (names: readonly string[]): string => names.map(quoteName).join(", ");
