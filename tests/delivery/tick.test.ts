import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { requestErasure } from "#server/services/erasures/request";
import { requestTeamDeletion } from "#server/services/team-deletions/request";
import { acceptedBy, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { createWorld, type World } from "../support/world";

let world: World;
beforeEach(async () => {
  world = await createWorld({ transportKind: "relay" });
});
afterEach(() => world.close());

// On a slow machine, little happens in a short round, so each one is twice as long as the one before.
const budgetsMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

test("a round that always has more email to deliver also aggregates usage, evaluates alerts, erases and deletes", async () => {
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  await requestErasure(world.ctx, { address: "kim@example.net", suppresses: false });
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: 5_000 });
  const { transport, handedOver } = createCountingTransport("relay", async (recipient) => {
    await wait(20);
    return acceptedBy(recipient);
  });
  const readProgress = async () => {
    const [row] = await world.hot`
      select exists (select from usage_days where team_id = ${world.id}) as usage,
        exists (select from alert_rounds) as alerts,
        exists (select from erasures where pass_started_at is not null or pass > 1) as erasures,
        exists (select from team_deletions where ended_at is not null) as deletions,
        exists (select from deliveries where status = 'queued') as "hasMore"`;
    return row;
  };
  const all = { usage: true, alerts: true, erasures: true, deletions: true, hasMore: true };
  for (const budgetMs of budgetsMs) {
    await tick(world.withTransport(transport), { budgetMs, dialoguesMax: 1 });
    if (Object.values((await readProgress()) ?? {}).every(Boolean)) break;
  }
  expect(await readProgress()).toEqual(all);
  expect(new Set(handedOver).size).toBe(handedOver.length);
}, 180_000);

test("a round without anything to deliver does all of it at once", async () => {
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  await tick(world.withTransport(), { budgetMs: 20_000 });
  expect(await world.hot`select name from teams`).toEqual([{ name: "First" }]);
  expect(await world.hot`select from alert_rounds`).toHaveLength(1);
});

test("a part of a round that fails stops no other part, and the round reports it", async () => {
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  await world.hot`alter table alert_rounds rename to missing`;
  await expect(tick(world.withTransport(), { budgetMs: 20_000 })).rejects.toMatchObject({ code: "42P01" });
  expect(await world.hot`select name from teams`).toEqual([{ name: "First" }]);
});
