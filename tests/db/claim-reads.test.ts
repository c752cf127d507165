import { expect, test } from "vitest";
import type { HotSql } from "#db/client";
import { firstIdAt, splitPartition } from "#db/partitions";
import { claimDeliveries } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { createTeam } from "#server/services/teams";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const limit = 100;

const world = forEachTest(() => createWorld());

/**
 * How much one claim reads of the queue: sequential scans, and rows fetched by an index, as PostgreSQL counts
 * them.
 */
async function readsOfClaim() {
  return world.hot.begin(async (tx) => {
    const hot = Object.assign(tx, { options: world.hot.options }) as unknown as HotSql;
    // The counts may still include reads of earlier transactions on this connection.
    const before = await countReads(hot);
    const claims = await claimDeliveries(hot, { limit, leaseToken: newId() });
    const after = await countReads(hot);
    return {
      claimed: claims.length,
      scans: after.scans - before.scans,
      fetched: after.fetched - before.fetched,
    };
  });
}

async function countReads(hot: HotSql): Promise<{ scans: number; fetched: number }> {
  const [reads] = await hot<{ scans: number; fetched: number }[]>`
    select sum(seq_scan)::int as scans, sum(idx_tup_fetch)::int as fetched
    from pg_stat_xact_user_tables where relname = 'deliveries' or relname like 'deliveries\\_%'`;
  if (!reads) throw new Error("PostgreSQL counts nothing of the queue.");
  return reads;
}

test("a claim reads about as many rows as it claims, independent of other queued, finished or postponed rows", async () => {
  const { hot } = world;
  const teams = [world.ctx.teamId, (await createTeam(world.deps, { name: "Second" })).id];
  for (const teamId of teams)
    for (const priority of ["high", "normal", "low"] as const)
      await queueMany(hot, { teamId, domain: "example.org", count: 600, priority });
  await queueMany(hot, { teamId: world.ctx.teamId, domain: "held.example", count: 600, dueIn: "1 day" });
  await hot`update deliveries set wait_rule = 'daily_cap' where due_at > now() + interval '1 hour'`;
  await hot`
    update deliveries set status = 'sent' where id in (select id from deliveries where priority = 1 limit 300)`;
  await hot.unsafe("vacuum analyze deliveries");
  // Each team and each priority cost one additional row, and each claimed row is fetched once more for its
  // update.
  const { claimed, scans, fetched } = await readsOfClaim();
  expect({ claimed, scans }).toEqual({ claimed: limit, scans: 0 });
  expect(fetched).toBeGreaterThanOrEqual(limit);
  expect(fetched).toBeLessThan(3 * limit);
});

test("a claim reads as few rows with partitions of the past and the future, in which nothing is due", async () => {
  const { hot } = world;
  const dayMs = 86_400_000;
  for (const days of [-30, -20, -10, 10, 20, 30])
    await splitPartition(hot, { table: "deliveries", key: "email_id" }, firstIdAt(Date.now() + days * dayMs));
  for (const days of [25, 15, 5]) {
    await queueMany(hot, { teamId: world.ctx.teamId, domain: "example.org", count: 1_000 });
    await hot`
      update deliveries set status = 'sent', email_id = (left(${firstIdAt(Date.now() - days * dayMs)}::text, 13) || substr(email_id::text, 14))::uuid
      where status = 'queued'`;
  }
  await queueMany(hot, { teamId: world.ctx.teamId, domain: "example.org", count: 3_000 });
  await hot.unsafe("vacuum analyze deliveries");
  const { claimed, fetched } = await readsOfClaim();
  expect(claimed).toBe(limit);
  expect(fetched).toBeGreaterThanOrEqual(limit);
  expect(fetched).toBeLessThan(3 * limit);
});
