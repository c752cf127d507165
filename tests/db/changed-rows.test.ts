import postgres from "postgres";
import { expect, test } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { claimDeliveries, releaseClaims } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { waitForLock } from "../support/database/lock-wait";
import { queueMany } from "../support/database/queue-many";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

test("a release that waited for a pause which has been lifted makes its deliveries due, and the database stays up", async () => {
  const { hot, ctx } = world;
  const count = 50;
  await queueMany(hot, { teamId: ctx.teamId, domain: "example.org", count });
  const pauseId = newId();
  await hot`
    insert into queue_pauses (id, team_id, domain, reason, actor)
    values (${pauseId}, ${ctx.teamId}, 'example.org', 'Test', 'operator')`;
  const claims = await claimDeliveries(hot, { limit: count, leaseToken: newId() });
  const holder = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  let released: Promise<number> = Promise.resolve(0);
  await holder.begin(async (tx) => {
    await tx`update queue_pauses set lifted_at = now(), released_at = now() where id = ${pauseId}`;
    released = releaseClaims(
      hot,
      claims.map((claim) => ({ ...claim, rule: "domain_paused" as const, pauseId })),
    );
    await waitForLock(hot);
  });
  await holder.end();
  expect(await released).toBe(count);
  const rows = await hot`select distinct status, wait_rule, due_at <= now() as is_due from deliveries`;
  expect(rows).toEqual([{ status: "queued", wait_rule: "released", is_due: true }]);
});

test("no connection prunes partitions, also if a pooler drops its settings", async () => {
  const [hot] = await world.hot`show enable_partition_pruning`;
  const [general] = await world.deps.db.execute("show enable_partition_pruning");
  // The database is a copy, which has no defaults of the role.
  await migrateDatabase(world.databaseUrl);
  const plain = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  const [ofRole] = await plain`show enable_partition_pruning`;
  await plain.end();
  expect([hot, general, ofRole]).toEqual(Array(3).fill({ enable_partition_pruning: "off" }));
});
