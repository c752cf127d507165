import { performance } from "node:perf_hooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { tick } from "#server/delivery/tick";
import { requestErasure } from "#server/services/erasures/request";
import { requestTeamDeletion } from "#server/services/team-deletions/request";
import { acceptedBy, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

/** The duration of each dialogue by the clock of the round, which does not run otherwise. */
const dialogueMs = 1_500;

test("a round that always has more email to deliver also aggregates usage, evaluates alerts, erases and deletes", async () => {
  let nowMs = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  await requestErasure(world.ctx, { address: "kim@example.net", suppresses: false });
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: 300 });
  const { transport, handedOver } = createCountingTransport("relay", async (recipient) => {
    nowMs += dialogueMs;
    return acceptedBy(recipient);
  });
  // Three quarters of the round are over after 30 emails.
  await tick(world.withTransport(transport), { budgetMs: 60_000, dialoguesMax: 1 });
  const [progress] = await world.hot`
    select exists (select from recipient_counts where team_id = ${world.id}) as usage,
      exists (select from jobs where name = 'alerts') as alerts,
      exists (select from erasures where pass_started_at is not null or pass > 1) as erasures,
      exists (select from team_deletions where ended_at is not null) as deletions,
      exists (select from deliveries where status = 'queued') as "hasMore"`;
  expect(progress).toEqual({ usage: true, alerts: true, erasures: true, deletions: true, hasMore: true });
  expect(new Set(handedOver).size).toBe(handedOver.length);
});

test("a round without anything to deliver does all of it at once", async () => {
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  await tick(world.withTransport(), { budgetMs: 20_000 });
  expect(await world.hot`select name from teams`).toEqual([{ name: "First" }]);
  expect(await world.hot`select name from jobs where lease_token is not null`).toEqual([]);
});

test("a job that fails before the deliveries stops none of them, and its fault is recorded", async () => {
  const { id } = await world.send();
  const { transport, handedOver } = createCountingTransport("relay", async (to) => acceptedBy(to));
  await world.hot`alter table sign_in_counters rename to missing`;
  await tick(world.withTransport(transport), { budgetMs: 20_000 });
  expect(handedOver).toHaveLength(1);
  expect(await world.hot`select status from emails where id = ${id}`).toMatchObject([{ status: "sent" }]);
  expect(await world.hot`select name, fault from jobs where failures > 0`).toMatchObject([
    { name: "sweep", fault: "PostgresError 42P01" },
  ]);
});

test("a job that fails stops no other, its fault is recorded, and it is repeated", async () => {
  const gone = await world.otherTeam("Gone");
  await requestTeamDeletion(gone.ctx, { confirm: "Gone" });
  await world.elapse("8 days");
  const failing = () => world.hot`select name, failures, fault from jobs where failures > 0`;
  await world.hot`alter table alert_notices rename to missing`;
  await tick(world.withTransport(), { budgetMs: 20_000 });
  expect(await world.hot`select name from teams`).toEqual([{ name: "First" }]);
  expect(await failing()).toMatchObject([{ name: "alerts", failures: 1, fault: "PostgresError 42P01" }]);
  await world.hot`alter table missing rename to alert_notices`;
  await world.elapse("1 min");
  await tick(world.withTransport(), { budgetMs: 20_000 });
  expect(await failing()).toEqual([]);
});
