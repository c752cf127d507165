import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  createDestinationThrottles,
  type DestinationThrottles,
  type DialogueSlot,
} from "#server/delivery/throttle/destination-throttles";
import { type Outcome, outcomeOfReply, parseSmtpReply } from "#server/mail/outcome";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const testDomain = "town.example";
const minuteMs = 60_000;
const openThrottles = (concurrencyMax = 5, destinationsMax?: number) =>
  createDestinationThrottles({ concurrencyMax, destinationsMax, nowMs: () => Date.now() });
const outcomesOf = (reply: string): Outcome[] => [
  outcomeOfReply("ann@town.example", parseSmtpReply(reply), testDomain, "mail"),
];
const unreachable: Outcome[] = [
  { recipient: "ann@town.example", kind: "deferred", reply: null, host: testDomain, reason: "No response." },
];

async function acquireSlot(throttles: DestinationThrottles, destination = testDomain): Promise<DialogueSlot> {
  const result = await throttles.acquire(destination);
  if ("waitMs" in result) throw new Error(`has to wait for ${result.waitMs} ms`);
  return result;
}

async function runDialogue(
  throttles: DestinationThrottles,
  reply: string | Outcome[],
  durationMs = 10,
): Promise<void> {
  const slot = await acquireSlot(throttles);
  slot.startDialogue();
  vi.advanceTimersByTime(durationMs);
  slot.release(typeof reply === "string" ? outcomesOf(reply) : reply);
}

/** How long the next delivery is requeued for; 0 if it gets a slot immediately. */
async function waitOf(throttles: DestinationThrottles, destination = testDomain): Promise<number> {
  const pending = throttles.acquire(destination);
  await vi.advanceTimersByTimeAsync(2_000);
  const result = await pending;
  if ("waitMs" in result) return result.waitMs;
  result.release(null);
  return 0;
}

test("a new destination has a concurrency of 2, which each round of successes raises by 1 up to the maximum", async () => {
  const throttles = openThrottles(4);
  expect(throttles.stateOf(testDomain).concurrency).toBe(2);
  const seen = [];
  for (let n = 0; n < 12; n++) {
    await runDialogue(throttles, "250 ok");
    seen.push(throttles.stateOf(testDomain).concurrency);
  }
  expect(seen).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]);
});

test("dialogues above the limit wait in order for a free slot", async () => {
  const throttles = openThrottles();
  const [first, second] = [await acquireSlot(throttles), await acquireSlot(throttles)];
  const order: string[] = [];
  const third = throttles.acquire(testDomain).then(() => order.push("third"));
  const fourth = throttles.acquire(testDomain).then(() => order.push("fourth"));
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual([]);
  first.release(null);
  await third;
  expect(order).toEqual(["third"]);
  second.release(null);
  await fourth;
});

test.each([
  "421 4.7.0 Try again later, closing connection",
  "451 4.7.650 The mail server [203.0.113.9] has been temporarily rate limited due to IP reputation.",
  "451 4.7.500 Server busy. Please try again later from [203.0.113.9].",
  "451 Message temporarily deferred - [160]",
  "421 4.7.0 [TSS04] Messages from 203.0.113.9 temporarily deferred due to unexpected volume",
])("%s halves concurrency and rate, and pauses the destination", async (reply) => {
  const throttles = openThrottles(8);
  for (let n = 0; n < 40; n++) await runDialogue(throttles, "250 ok");
  expect(throttles.stateOf(testDomain).concurrency).toBe(8);
  await runDialogue(throttles, reply);
  expect(throttles.stateOf(testDomain)).toEqual({ concurrency: 4, perMinute: 20, pausedForMs: 30_000 });
  const waitMs = await waitOf(throttles);
  expect(waitMs).toBeGreaterThan(28_000);
  expect(waitMs).toBeLessThan(40_000);
});

test.each([
  "450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
  "452 4.2.2 The email account that you tried to reach is over quota",
  "452 4.5.3 Too many recipients",
  "451 4.7.1 Greylisted, please try again in 300 seconds",
  "421 4.4.2 mx.example.net Error: timeout exceeded",
])("%s concerns one mailbox, transaction or connection, and changes nothing", async (reply) => {
  const throttles = openThrottles();
  await runDialogue(throttles, reply);
  expect(throttles.stateOf(testDomain)).toEqual({ concurrency: 2, perMinute: null, pausedForMs: 0 });
});

test.each([60, 75, 90, 105, 119])(
  "after %d s at 100 dialogues per minute, the rate is halved",
  async (seconds) => {
    const throttles = openThrottles(8);
    for (let n = 0; n < (seconds * 100) / 60; n++) await runDialogue(throttles, "250 ok", 600);
    await runDialogue(throttles, "421 4.7.0 Try again later");
    const { perMinute } = throttles.stateOf(testDomain);
    expect(perMinute).toBeGreaterThanOrEqual(48);
    expect(perMinute).toBeLessThanOrEqual(52);
  },
);

test("concurrent throttling replies reduce the limits once", async () => {
  const throttles = openThrottles(8);
  for (let n = 0; n < 40; n++) await runDialogue(throttles, "250 ok");
  const together = await Promise.all(Array.from({ length: 8 }, () => acquireSlot(throttles)));
  for (const each of together) each.startDialogue();
  vi.advanceTimersByTime(10);
  for (const each of together) each.release(outcomesOf("421 too many connections"));
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 4, pausedForMs: 30_000 });
});

test("each further throttling reply doubles the pause up to 15 minutes, and a success resets it", async () => {
  const throttles = openThrottles();
  const pauses: number[] = [];
  for (let n = 0; n < 7; n++) {
    await runDialogue(throttles, "421 not now");
    pauses.push(throttles.stateOf(testDomain).pausedForMs / 1_000);
    vi.advanceTimersByTime(20 * minuteMs);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900]);
  await runDialogue(throttles, "250 ok");
  vi.advanceTimersByTime(20 * minuteMs);
  await runDialogue(throttles, "421 not now");
  expect(throttles.stateOf(testDomain).pausedForMs).toBe(30_000);
});

test("each success raises a lowered rate by one, until it is unlimited", async () => {
  const throttles = openThrottles();
  await runDialogue(throttles, "421 not now");
  expect(throttles.stateOf(testDomain).perMinute).toBe(6);
  for (let n = 0; n < 1_200 && throttles.stateOf(testDomain).perMinute !== null; n++) {
    vi.advanceTimersByTime(minuteMs);
    await runDialogue(throttles, "250 ok");
    if (n === 2) expect(throttles.stateOf(testDomain).perMinute).toBe(9);
  }
  expect(throttles.stateOf(testDomain).perMinute).toBe(null);
});

test("a new destination gets 60 emails at once, then a rate that grows with what it accepted, until 1,000", async () => {
  const throttles = openThrottles();
  const learned = { connections: 2, perMinute: null, accepted: 0, objections: 0 };
  throttles.update(testDomain, { learned });
  for (let n = 0; n < 60; n++) await runDialogue(throttles, "250 ok");
  expect(throttles.stateOf(testDomain).perMinute).toBe(240);
  throttles.update(testDomain, { learned: { ...learned, accepted: 999 }, workers: { others: 1, before: 0 } });
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 1, perMinute: 1_998 });
  vi.advanceTimersByTime(minuteMs);
  await runDialogue(throttles, "250 ok");
  expect(throttles.stateOf(testDomain).perMinute).toBe(null);
});

test("no second dialogue starts beside a slow one, and other deliveries are requeued one after another", async () => {
  const throttles = openThrottles();
  const tarpit = await acquireSlot(throttles);
  tarpit.startDialogue();
  vi.advanceTimersByTime(10_000);
  const waits = [];
  for (let n = 0; n < 3; n++) waits.push(await waitOf(throttles));
  expect(waits[0]).toBeGreaterThan(1_000);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(new Set(waits).size).toBe(3);
  tarpit.release(outcomesOf("250 ok"));
  const next = await acquireSlot(throttles);
  expect(await waitOf(throttles)).toBeGreaterThan(0);
  next.release(null);
});

test("a delivery that waits for a slot is requeued after 2 s, or immediately after a throttling reply", async () => {
  const throttles = openThrottles();
  const [first] = [await acquireSlot(throttles), await acquireSlot(throttles)];
  expect(await waitOf(throttles)).toBeGreaterThan(0);
  const pending = throttles.acquire(testDomain);
  first.startDialogue();
  first.release(outcomesOf("421 stop"));
  expect(await pending).toMatchObject({ waitMs: expect.any(Number) });
});

test("an unreachable destination keeps a concurrency of 1, and other rejections change nothing", async () => {
  const throttles = openThrottles();
  await runDialogue(throttles, "550 5.1.1 no such user");
  await runDialogue(throttles, "451 4.7.1 Greylisted, please try again in 300 seconds");
  expect(throttles.stateOf(testDomain)).toEqual({ concurrency: 2, perMinute: null, pausedForMs: 0 });
  await runDialogue(throttles, unreachable);
  expect(throttles.stateOf(testDomain)).toEqual({ concurrency: 1, perMinute: null, pausedForMs: 0 });
});

test("destinations are throttled separately, and paused ones are not evicted", async () => {
  const throttles = openThrottles(5, 2);
  await runDialogue(throttles, "421 not now");
  for (let n = 0; n < 50; n++) (await acquireSlot(throttles, `other${n}.example`)).release(null);
  expect(await waitOf(throttles, "other.example")).toBe(0);
  expect(await waitOf(throttles)).toBeGreaterThan(20_000);
});

test("the operator's limit applies to a fast destination, and removing it restores the learned limits", async () => {
  const throttles = openThrottles();
  for (let n = 0; n < 12; n++) await runDialogue(throttles, "250 ok");
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 5, perMinute: null });
  throttles.update(testDomain, { limit: { dialogues: 1, perMinute: 60 } });
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 1, perMinute: 60 });
  const first = await acquireSlot(throttles);
  first.startDialogue();
  first.release(outcomesOf("250 ok"));
  const second = throttles.acquire(testDomain);
  await vi.advanceTimersByTimeAsync(999);
  expect(await Promise.race([second, "not yet"])).toBe("not yet");
  await vi.advanceTimersByTimeAsync(1);
  expect(await second).toHaveProperty("release");

  throttles.update(testDomain, { limit: { dialogues: null, perMinute: null } });
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 5, perMinute: null });
});

test("learned limits below the operator's limit apply", async () => {
  const throttles = openThrottles();
  throttles.update(testDomain, { limit: { dialogues: 4, perMinute: 600 } });
  await runDialogue(throttles, "421 4.7.0 too many");
  expect(throttles.stateOf(testDomain)).toMatchObject({ concurrency: 1, perMinute: 6 });
});
