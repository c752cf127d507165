import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { acceptedBy, type CountingTransport, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { startOwnEngine } from "../support/pump-engine";
import { createWorld, type TestTeam } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let other: TestTeam;
let stops: (() => Promise<void>)[];
beforeEach(async () => {
  other = await world.otherTeam();
  await other.domain("other.example");
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

/** Starts an engine that runs until the end of the test. */
const startEngine = (out: CountingTransport) => void stops.push(startOwnEngine(world, out));

const pause = (teamId: string, domain: string | null) =>
  pauseQueue(world.ctx, { teamId, domain, reason: "The relay is being replaced" });
const queue = (count: number, domain = "example.org", teamId = world.id) =>
  queueMany(world.hot, { teamId, domain, count, to: `to-${domain}` });
const countOf = async (condition: string): Promise<number> => {
  const [row] = await world.hot.unsafe<{ n: number }[]>(
    `select count(*)::int as n from deliveries where ${condition}`,
  );
  return row?.n ?? 0;
};
test("after a pause is committed, no worker starts a dialogue for its scope, and dialogues in progress finish", async () => {
  // Each worker claims more than it can send in the time that a pause may take: what it holds has to wait
  // too.
  const withinMs = 3_000;
  const started: { recipient: string; atMs: number }[] = [];
  const slow = createCountingTransport("relay", async (recipient) => {
    started.push({ recipient, atMs: performance.now() });
    await wait(200);
    return acceptedBy(recipient);
  });
  await world.domain("third.example");
  const third = await world.otherTeam("Third");
  await third.domain("busy.example");
  await queue(900);
  await queue(900, "other.example", other.id);
  await queue(1_500, "busy.example", third.id);
  for (let n = 0; n < 3; n++) startEngine(slow);
  const startsOf = (domain: string, sinceMs = 0) =>
    started.filter(({ recipient, atMs }) => recipient.endsWith(`@to-${domain}`) && atMs > sinceMs).length;
  await vi.waitFor(() => {
    expect(startsOf("example.org")).toBeGreaterThan(20);
    expect(startsOf("other.example")).toBeGreaterThan(20);
  }, eventually);
  await Promise.all([pause(world.id, "example.org"), pause(other.id, null)]);
  const pausedMs = performance.now();
  await vi.waitFor(
    () => expect(startsOf("busy.example", pausedMs + withinMs)).toBeGreaterThan(50),
    eventually,
  );
  expect(startsOf("example.org", pausedMs + withinMs)).toBe(0);
  expect(startsOf("other.example", pausedMs + withinMs)).toBe(0);
  const finished = startsOf("example.org") + startsOf("other.example");
  await vi.waitFor(
    async () =>
      expect(await countOf("status = 'sent' and domain in ('to-example.org', 'to-other.example')")).toBe(
        finished,
      ),
    eventually,
  );
  expect(await countOf("status = 'queued' and attempts > 0")).toBe(0);
});

test("deliveries that workers postpone while a domain is resumed are not left behind", async () => {
  await queue(1_000);
  const out = createCountingTransport("relay");
  for (let n = 0; n < 2; n++) startEngine(out);
  for (let n = 0; n < 4; n++) {
    await pause(world.id, "example.org");
    await vi.waitFor(async () => {
      const left = await countOf("status = 'queued'");
      const parked = await countOf("status = 'queued' and due_at = 'infinity'");
      expect(left === 0 || parked > 0).toBe(true);
    }, eventually);
    await resumeQueue(world.ctx, { teamId: world.id, domain: "example.org" });
  }
  await vi.waitFor(async () => expect(await countOf("status = 'sent'")).toBe(1_000), eventually);
  expect(new Set(out.handedOver).size).toBe(1_000);
});
