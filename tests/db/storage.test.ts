import { expect, test } from "vitest";
import { firstIdAt, splitPartition } from "#db/partitions";
import { openFreshDatabase } from "../support/database/postgres";
import { forAllTests } from "../support/fixtures";

const early = {
  autovacuum_vacuum_threshold: "10000",
  autovacuum_vacuum_scale_factor: "0.05",
  autovacuum_analyze_scale_factor: "0.05",
};
const { autovacuum_analyze_scale_factor: _, ...earlyVacuum } = early;
/**
 * The storage options of the tables that change most, by the name of the table or the start of its
 * partitions.
 */
const STORAGE: Record<string, Record<string, string>> = {
  // No fill factor: a finished delivery would keep the free space.
  deliveries: early,
  emails: early,
  webhook_deliveries: early,
  idempotency_keys: earlyVacuum,
  system_mails: { autovacuum_vacuum_threshold: "50", autovacuum_vacuum_scale_factor: "0" },
  sending_days: { fillfactor: "50", autovacuum_vacuum_threshold: "500", autovacuum_vacuum_scale_factor: "0" },
};

const database = forAllTests(openFreshDatabase);

/** The options of a table, or of each of its partitions. */
const readOptions = async (table: string): Promise<Record<string, string>[]> => {
  const rows = await database.hot<{ options: string[] | null }[]>`
    select c.reloptions as options from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and ${table}::regclass in (c.oid, i.inhparent)`;
  return rows.map(({ options }) => Object.fromEntries((options ?? []).map((option) => option.split("="))));
};

test.each(Object.entries(STORAGE))(
  "%s has its storage options and is vacuumed in time",
  async (table, options) => {
    const found = await readOptions(table);
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) expect(each).toEqual(options);
  },
);

test("a partition that is added later has the options of the one before it", async () => {
  const before = await readOptions("deliveries");
  const postponement = splitPartition(
    database.hot,
    { table: "deliveries", key: "email_id" },
    firstIdAt(Date.now() + 86_400_000),
  );
  expect(await postponement).toBeNull();
  const after = await readOptions("deliveries");
  expect(after).toHaveLength(before.length + 1);
  for (const each of after) expect(each).toEqual(STORAGE.deliveries);
});
