import { expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { countPendingRecipients } from "#server/services/metrics/count";
import { forAllTests } from "../../support/fixtures";
import { createGate } from "../../support/gate";
import { createWorld } from "../../support/world";

const world = forAllTests(() => createWorld());

test("readers that wait until another process has counted use one connection, not all", async () => {
  const { hot, ctx } = world;
  await countPendingRecipients(ctx);
  const other = openDatabase(world.databaseUrl, { connectionsMax: 2 });
  const [lock, release] = [createGate(), createGate()];
  const held = other.hot.begin(async (tx) => {
    await tx`select from metrics_progress where team_id = ${ctx.teamId} for update`;
    lock.open();
    await release.passed;
  });
  await lock.passed;
  const waiting = async () =>
    (
      await other.hot`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    ).length;
  try {
    const readers = Promise.all(Array.from({ length: 50 }, () => countPendingRecipients(ctx)));
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000, interval: 10 });
    // This statement needs a connection of the same pool.
    await hot`select 1`;
    expect(await waiting()).toBe(1);
    release.open();
    expect(new Set(await readers)).toEqual(new Set([true]));
  } finally {
    release.open();
    await held;
    await other.close();
  }
});
