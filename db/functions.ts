import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Sql, TransactionSql } from "postgres";

/** The functions and triggers of a build: one text, and its hash. */
export type Functions = { text: string; hash: string };

/**
 * The current definitions of the functions and triggers in use, which can be applied repeatedly. They are in
 * `db/functions`, beside the folder of the migrations; null if that folder has none.
 */
export function readFunctions(migrationsFolder: string): Functions | null {
  const folder = path.join(migrationsFolder, "..", "functions");
  if (!existsSync(folder)) return null;
  const names = readdirSync(folder).sort();
  const text = names.map((name) => readFileSync(path.join(folder, name), "utf8")).join("\n");
  return { text, hash: createHash("sha256").update(text).digest("hex") };
}

/** Whether the database has these definitions. */
export async function hasFunctions(sql: Sql | TransactionSql, { hash }: Functions): Promise<boolean> {
  const [table] = await sql<{ name: string | null }[]>`
    select to_regclass('drizzle.__functions')::text as name`;
  if (!table?.name) return false;
  const rows = await sql`select from drizzle.__functions where hash = ${hash}`;
  return rows.length > 0;
}

/** Replaces all functions and triggers, and records their hash, in the transaction of the caller. */
export async function applyFunctions(tx: TransactionSql, { text, hash }: Functions): Promise<void> {
  await tx.unsafe(text);
  await tx`create schema if not exists drizzle`;
  await tx`create table if not exists drizzle.__functions (hash text not null)`;
  await tx`delete from drizzle.__functions`;
  await tx`insert into drizzle.__functions (hash) values (${hash})`;
}
