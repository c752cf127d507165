import postgres, { type Sql } from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { createWorld, type World } from "../support/world";

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await maintainPartitions(world.withTransport(null), () => true);
});
afterEach(() => world.close());

/** Waits for a row of `deliveries` that another transaction changes, and then locks it as a worker does. */
async function lockChangedRow(sql: Pick<Sql, "unsafe">): Promise<number> {
  const { id, deliveryIds } = await world.queued();
  let locking: Promise<{ count: number }> | undefined;
  await world.hot.begin(async (tx) => {
    await tx`update deliveries set updated_at = now() where email_id = ${id}`;
    locking = sql.unsafe(
      `select d.id from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as r(team_id, email_id, id)
         join deliveries d using (team_id, email_id, id) order by d.id for no key update of d`,
      [[world.ctx.teamId], [id], deliveryIds],
    );
    await world.untilBlocked();
  });
  return (await locking)?.count ?? 0;
}
