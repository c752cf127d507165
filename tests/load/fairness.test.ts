import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { claimDeliveries, hasMoreDue } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { addDomain } from "#server/services/domains/write";
import { createTeam } from "#server/services/teams";
import { acceptedBy, type CountingTransport, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { countQueueReads } from "../support/database/queue-reads";
import { forEachTest } from "../support/fixtures";
import { pumpEngine } from "../support/pump-engine";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };
const claimBatch = 150;

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let out: CountingTransport;
let engine: ReturnType<typeof createEngine>;
let stopPumping: () => Promise<void>;
beforeEach(async () => {
  out = createCountingTransport("relay");
  engine = createEngine(world.withTransport(out.transport), { dialoguesMax: 10 });
  stopPumping = async () => {};
});
afterEach(async () => {
  await stopPumping();
  await engine.drain(1_000);
});

async function openTeam(name: string): Promise<string> {
  const { id } = await createTeam(world.deps, { name });
  await addDomain({ ...world.ctx, teamId: id }, { name: `${name}.example`, verified: true });
  return id;
}

test("a team's backlog of 5,000 emails delays another team's single email by a few batches at most", async () => {
  await queueMany(world.hot, { teamId: world.ctx.teamId, domain: "example.org", count: 5_000 });
  const second = await openTeam("second");
  stopPumping = pumpEngine(engine, 5);
  await vi.waitFor(() => expect(out.handedOver.length).toBeGreaterThan(500), eventually);

  await queueMany(world.hot, { teamId: second, domain: "second.example", count: 1, to: "single.example" });
  // Counted from its commit: earlier hand-overs do not show whether claims are fair.
  const before = out.handedOver.length;
  await vi.waitFor(
    () => expect(out.handedOver).toContainEqual(expect.stringMatching(/@single\.example$/)),
    eventually,
  );
  const between = out.handedOver.findIndex((address) => address.endsWith("@single.example")) - before;
  expect(between).toBeLessThan(4 * claimBatch);
});

test("a single email of another team gets one of the next turns of a worker that is full", async () => {
  const open: (() => void)[] = [];
  let isOver = false;
  const blocked = createCountingTransport("relay", async (recipient) => {
    if (!isOver) await new Promise<void>((resolve) => open.push(resolve));
    return acceptedBy(recipient);
  });
  const full = createEngine(world.withTransport(blocked.transport), {
    dialoguesMax: 1,
    onCapacity: () => void pumpAll(),
  });
  const pumpAll = async () => {
    while (await full.pump());
  };
  const claimUntil = (count: number) =>
    vi.waitFor(async () => {
      await full.pump();
      expect(full.attempting.size).toBe(count);
    }, eventually);
  await queueMany(world.hot, { teamId: world.ctx.teamId, domain: "example.org", count: 1_000 });
  await claimUntil(300);
  const second = await openTeam("second");
  await queueMany(world.hot, { teamId: second, domain: "second.example", count: 1, to: "single.example" });
  await claimUntil(301);
  const isHandedOver = () => blocked.handedOver.some((address) => address.endsWith("@single.example"));
  // The first message may still be being prepared: no dialogue is open before.
  await vi.waitFor(() => expect(blocked.handedOver).toHaveLength(1), eventually);
  let turns = 0;
  for (; !isHandedOver() && turns < 20; turns++) {
    open.shift()?.();
    await vi.waitFor(() => expect(blocked.handedOver).toHaveLength(turns + 2), eventually);
  }
  // One dialogue is open, and up to four messages are prepared ahead.
  expect(turns).toBeLessThanOrEqual(6);
  // It claims the backlog as it gets capacity, and needs no poll for that.
  isOver = true;
  for (const end of open) end();
  await vi.waitFor(() => expect(blocked.handedOver).toHaveLength(1_001), eventually);
  await full.drain(1_000);
});

test("a claim reads no more rows with a backlog ten times as large, and includes another team's single email", async () => {
  const second = await openTeam("second");
  const reads = [];
  for (const more of [250, 2_250]) {
    await queueMany(world.hot, { teamId: world.ctx.teamId, domain: "example.org", count: more });
    await queueMany(world.hot, { teamId: second, domain: "second.example", count: 1, to: "single.example" });
    await world.hot.unsafe("vacuum analyze deliveries, queue");
    const { scans, fetched, result } = await countQueueReads(world.hot, (hot) =>
      claimDeliveries(hot, { limit: claimBatch, leaseToken: newId() }),
    );
    expect(scans).toBe(0);
    expect(result.filter(({ teamId }) => teamId === second)).toHaveLength(1);
    reads.push({ claimed: result.length, fetched });
  }
  const [few, many] = reads;
  expect(many?.claimed).toBe(few?.claimed);
  // The scan may read one or two rows that were changed recently.
  expect(many?.fetched).toBeLessThan((few?.fetched ?? 0) + 5);
});

test("teams with backlogs get equal shares of a claim, oldest deliveries first", async () => {
  const teams = [world.ctx.teamId, await openTeam("second"), await openTeam("third")];
  for (const [n, teamId] of teams.entries())
    await queueMany(world.hot, { teamId, domain: "example.org", count: 200 * (n + 1) });
  const claims = await claimDeliveries(world.hot, { limit: 150, leaseToken: newId() });
  const countOf = (teamId: string) => claims.filter((claim) => claim.teamId === teamId).length;
  expect(teams.map(countOf)).toEqual([50, 50, 50]);
  expect(hasMoreDue(claims)).toBe(true);
  const [newer] = await world.hot<{ count: number }[]>`
    select count(*)::int as count from queue w join queue c using (team_id) join deliveries d on d.id = c.id
    where w.lease_token is null and c.lease_token is not null and w.due_at < d.due_at`;
  expect(newer?.count).toBe(0);
});

test("with more waiting teams than rows in a claim, each team is served eventually", async () => {
  const teams: string[] = [];
  for (let n = 0; n < 30; n++) {
    const { id } = await createTeam(world.deps, { name: `Team ${n}` });
    teams.push(id);
    await queueMany(world.hot, { teamId: id, domain: "example.org", count: 40 });
  }
  const served = new Set<string>();
  for (let n = 0; n < 200 && served.size < teams.length; n++)
    for (const { teamId } of await claimDeliveries(world.hot, { limit: 5, leaseToken: newId() }))
      served.add(teamId);
  expect(served.size).toBe(teams.length);
});

test("email that is not due uses no part of any share", async () => {
  await queueMany(world.hot, { teamId: world.ctx.teamId, domain: "example.org", count: 200 });
  const later = await openTeam("later");
  await queueMany(world.hot, { teamId: later, domain: "later.example", count: 200, dueIn: "1 hour" });
  const claims = await claimDeliveries(world.hot, { limit: 150, leaseToken: newId() });
  expect(claims.filter(({ teamId }) => teamId === world.ctx.teamId)).toHaveLength(150);
  expect(hasMoreDue(claims)).toBe(true);
  const rest = await claimDeliveries(world.hot, { limit: 150, leaseToken: newId() });
  expect(rest).toHaveLength(50);
  expect(hasMoreDue(rest)).toBe(false);
});
