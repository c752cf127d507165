import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sql } from "postgres";

const migration = fileURLToPath(new URL("../../../db/migrations/0030_recipient_totals.sql", import.meta.url));

/** The statement that fills the totals from the counts that the database had before it had totals. */
const FILL = readFileSync(migration, "utf8").split("--> statement-breakpoint").at(-1) ?? "";

/** Fills the totals of counts that a test inserted. */
export async function fillTotals(sql: Pick<Sql, "unsafe">): Promise<void> {
  await sql.unsafe("truncate recipient_totals");
  await sql.unsafe(FILL);
}

/** The totals that are not the sums of their counts, and the sums without a total. */
export async function listWrongTotals(sql: Pick<Sql, "unsafe">): Promise<object[]> {
  const sums = FILL.slice(FILL.indexOf("SELECT")).replace(/;\s*$/, "");
  const totals = "select * from recipient_totals where dimension <> 'result'";
  return sql.unsafe(
    `with sums as (${sums}) (select * from sums except ${totals}) union all (${totals} except select * from sums)`,
  );
}
