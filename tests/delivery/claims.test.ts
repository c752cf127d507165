import { expect, test } from "vitest";
import { claimDeliveries } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

test("concurrent claims get disjoint rows and together all rows", async () => {
  for (let n = 0; n < 10; n++)
    await queueMany(world.hot, {
      teamId: world.id,
      domain: "example.org",
      to: `many${n}.example`,
      count: 50,
    });
  const claimed: string[] = [];
  const claimAll = async () => {
    for (;;) {
      const claims = await claimDeliveries(world.hot, { limit: 17, leaseToken: newId() });
      claimed.push(...claims.map(({ id }) => id));
      // Rows locked by another connection are skipped, so only an empty table ends the loop.
      if (claims.length === 0) {
        const [left] = await world.hot`select 1 from queue where lease_token is null limit 1`;
        if (!left) return;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, claimAll));
  expect(claimed).toHaveLength(500);
  expect(new Set(claimed).size).toBe(500);
});
