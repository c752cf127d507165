import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { acceptedBy, type CountingTransport, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { pumpEngine } from "../support/pump-engine";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };
const dialoguesMax = 4;

const world = forEachTest(() => createWorld({ transportKind: "direct" }));
let stop: () => Promise<void>;
beforeEach(async () => {
  stop = async () => {};
});
afterEach(() => stop());

const queue = (to: string, count: number) =>
  queueMany(world.hot, { teamId: world.ctx.teamId, domain: "example.org", count, to });

/** An engine that pumps until the end of the test. */
function start({ transport }: CountingTransport, beforeStop: () => void = () => {}): void {
  const engine = createEngine(world.withTransport(transport), { dialoguesMax });
  const stopPumping = pumpEngine(engine);
  stop = async () => {
    const stopped = stopPumping();
    beforeStop();
    await stopped;
    await engine.drain(0);
  };
}

/** A transport where destinations named tarpit do not respond until they are released. */
function openTarpits(): { out: CountingTransport; release: () => void } {
  const { passed: gone, open: release } = createGate();
  const out = createCountingTransport("direct", async (recipient) => {
    if (recipient.includes("@tarpit")) await gone;
    return acceptedBy(recipient);
  });
  return { out, release };
}

const countFor = (handedOver: string[], domain: string) =>
  handedOver.filter((address) => address.endsWith(`@${domain}`)).length;

test("a tarpit occupies two slots, and fast destinations behind its backlog get all their email", async () => {
  await queue("tarpit.example", 1_000);
  await queue("quick.example", 50);
  const { out, release } = openTarpits();
  start(out, release);
  await vi.waitFor(() => expect(countFor(out.handedOver, "quick.example")).toBe(50), eventually);
  expect(countFor(out.handedOver, "tarpit.example")).toBe(2);
});

test("a backlog of 5,000 emails to a slow destination hardly delays a single email to another one", async () => {
  await queue("slow.example", 5_000);
  const out = createCountingTransport("direct", async (recipient) => {
    if (recipient.endsWith("@slow.example")) await wait(100);
    return acceptedBy(recipient);
  });
  start(out);
  await vi.waitFor(() => expect(out.handedOver.length).toBeGreaterThan(20), eventually);
  await queue("quick.example", 1);
  const before = out.handedOver.length;
  await vi.waitFor(() => expect(countFor(out.handedOver, "quick.example")).toBe(1), eventually);
  expect(out.handedOver.findIndex((address) => address.endsWith("@quick.example")) - before).toBeLessThan(
    150,
  );
  await vi.waitFor(async () => {
    const [waiting] = await world.hot<{ n: number }[]>`
      select count(*)::int as n from deliveries where wait_rule = 'destination_throttled' and due_at > now()`;
    expect(waiting?.n).toBeGreaterThan(3_000);
  }, eventually);
});

test("1,000 emails to a host that has accepted our email before are sent without waiting for their due times", async () => {
  await world.hot`
    insert into destination_states (source, destination, connections, accepted) values ('', 'known.example', 5, 5000)`;
  await queue("known.example", 1_000);
  const out = createCountingTransport("direct");
  start(out);
  await vi.waitFor(
    async () => {
      // What had to wait for a slot is due in an hour, so that only capacity makes it due.
      await world.hot`
        update queue set due_at = now() + interval '1 hour'
        where destination is not null and lease_token is null and due_at < now() + interval '30 min'`;
      expect(out.handedOver.length).toBe(1_000);
    },
    { timeout: 50_000, interval: 200 },
  );
});

test("more tarpits than slots do not block other destinations", async () => {
  for (let n = 0; n < dialoguesMax; n++) await queue(`tarpit${n}.example`, 5);
  const { out, release } = openTarpits();
  start(out, release);
  await vi.waitFor(() => expect(out.handedOver.length).toBeGreaterThanOrEqual(dialoguesMax), eventually);
  await queue("quick.example", 1);
  await vi.waitFor(() => expect(countFor(out.handedOver, "quick.example")).toBe(1), eventually);
  for (let n = 0; n < dialoguesMax; n++)
    expect(countFor(out.handedOver, `tarpit${n}.example`)).toBeLessThanOrEqual(2);
});
