import { afterAll, beforeAll, expect, test } from "vitest";
import type { HotSql } from "#db/client";
import { tick } from "#server/delivery/tick";
import { acceptedBy, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { openDeps } from "../support/deps";
import { createWorld, type World } from "../support/world";

const TABLES = ["emails", "email_bodies", "deliveries", "email_events", "attachments"] as const;
const count = 1_000;

let world: World;
beforeAll(async () => {
  world = await createWorld({ transportKind: "relay" });
});
afterAll(() => world.close());

/**
 * Rows that statements read of each table with its partitions, as PostgreSQL counts them when a connection
 * ends.
 */
async function readRows(hot: HotSql): Promise<Record<string, number>> {
  const rows = await hot<{ name: string; n: number }[]>`
    select i.inhparent::regclass::text as name, sum(t.idx_tup_fetch + t.seq_tup_read)::int as n
    from pg_stat_user_tables t join pg_inherits i on i.inhrelid = t.relid
    where i.inhparent::regclass::text = any(${[...TABLES]}::text[]) group by 1`;
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** Delivers all that is queued, with connections of its own. */
async function deliver(prepare: (hot: HotSql) => Promise<void>): Promise<number> {
  const { transport, handedOver } = createCountingTransport("relay", (recipient) =>
    Promise.resolve(acceptedBy(recipient)),
  );
  const { deps, close } = openDeps(world.databaseUrl);
  try {
    // Each statement is planned with the statistics of empty tables, as those of a new partition are.
    await tick({ ...deps, transport }, { budgetMs: 60_000 });
    await prepare(deps.hot);
    while ((await world.hot`select from deliveries where status = 'queued' limit 1`).length > 0)
      await tick({ ...deps, transport }, { budgetMs: 60_000 });
  } finally {
    await close();
  }
  return handedOver.length;
}

test("delivering an email reads as few rows of a table without statistics, however many emails there are", async () => {
  await world.send();
  for (const name of TABLES)
    await world.hot.unsafe(`alter table ${name}_first set (autovacuum_enabled = off)`);
  const before = await readRows(world.hot);
  const delivered = await deliver(async (hot) => {
    await queueMany(hot, { teamId: world.id, domain: "example.org", count });
    await hot`insert into email_events (id, team_id, email_id, type)
      select uuid_v7(), team_id, id, 'email.queued' from emails where status = 'queued'`;
  });
  expect(delivered).toBe(count + 1);
  const after = await readRows(world.hot);
  for (const name of TABLES)
    expect((Number(after[name]) - Number(before[name])) / count, name).toBeLessThan(40);
});
