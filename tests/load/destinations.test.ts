import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { outcomeOfReply, parseSmtpReply } from "#server/mail/outcome";
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

test("deliveries that wait for a destination are queued without an attempt, with their rule and due time", async () => {
  await queue("tarpit.example", 20);
  const { out, release } = openTarpits();
  start(out, release);
  const waiting = () => world.hot<{ attempts: number; waits: boolean; status: string }[]>`
    select d.attempts, d.due_at > now() as waits, e.status from deliveries d join emails e on e.id = d.email_id
    where d.status = 'queued' and d.wait_rule = 'destination_throttled'`;
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(18), eventually);
  for (const row of await waiting()) expect(row).toMatchObject({ attempts: 0, status: "queued" });
  expect((await waiting()).some(({ waits }) => waits)).toBe(true);

  release();
  await vi.waitFor(async () => {
    // Only queued rows become due: an expired lease during a dialogue would make its outcome unknown.
    await world.hot`update deliveries set due_at = now() where status = 'queued' and due_at > now()`;
    expect(await world.hot`select from deliveries where status <> 'delivered'`).toHaveLength(0);
  }, eventually);
  expect(new Set(out.handedOver).size).toBe(20);
  expect(out.handedOver).toHaveLength(20);
});

test("a destination that replies 421 is paused until the end of its pause, and others are not", async () => {
  const out = createCountingTransport("direct", async (recipient) =>
    recipient.endsWith("@busy.example")
      ? outcomeOfReply(recipient, parseSmtpReply("421 4.7.0 Too many connections"), "mx.busy.example", "mail")
      : acceptedBy(recipient),
  );
  await queue("busy.example", 300);
  start(out);
  await vi.waitFor(
    async () =>
      expect(
        await world.hot`select from deliveries where status = 'queued' and wait_rule is not null`,
      ).toHaveLength(300),
    eventually,
  );
  // Two dialogues had started before the first reply.
  expect(out.handedOver.length).toBeLessThanOrEqual(2);
  const [held] = await world.hot<{ seconds: number }[]>`
    select extract(epoch from min(due_at) - now())::float as seconds from deliveries where wait_rule = 'destination_throttled'`;
  expect(held?.seconds).toBeGreaterThan(0);
  await queue("quick.example", 1);
  await vi.waitFor(() => expect(countFor(out.handedOver, "quick.example")).toBe(1), eventually);
});
