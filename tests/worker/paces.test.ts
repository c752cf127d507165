import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Outcome, outcomeOfReply, readReply } from "#server/mail/outcome";
import { createPaces, type Paces, type Place } from "#server/worker/paces";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const town = "town.example";
const minuteMs = 60_000;
const openPaces = (placesMax = 5, destinationsMax?: number) =>
  createPaces({ placesMax, destinationsMax, nowMs: () => Date.now() });
const answer = (reply: string): Outcome[] => [
  outcomeOfReply("ann@town.example", readReply(reply), town, "mail"),
];
const unreached: Outcome[] = [
  { recipient: "ann@town.example", kind: "deferred", reply: null, host: town, reason: "Nobody answers." },
];

async function place(paces: Paces, destination = town): Promise<Place> {
  const given = await paces.enter(destination);
  if ("waitMs" in given) throw new Error(`has to wait for ${given.waitMs} ms`);
  return given;
}

async function talk(paces: Paces, reply: string | Outcome[], tookMs = 10): Promise<void> {
  const mine = await place(paces);
  mine.talk();
  vi.advanceTimersByTime(tookMs);
  mine.leave(typeof reply === "string" ? answer(reply) : reply);
}

/** For how long the next mail is sent back; 0 where it has a place at once. */
async function waitOf(paces: Paces, destination = town): Promise<number> {
  const entering = paces.enter(destination);
  await vi.advanceTimersByTimeAsync(2_000);
  const given = await entering;
  if ("waitMs" in given) return given.waitMs;
  given.leave(null);
  return 0;
}

test("an unknown destination has two places, and each round of success brings one more, up to the most", async () => {
  const paces = openPaces(4);
  expect(paces.known(town).places).toBe(2);
  const seen = [];
  for (let n = 0; n < 12; n++) {
    await talk(paces, "250 ok");
    seen.push(paces.known(town).places);
  }
  expect(seen).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]);
});

test("more than the places wait in order, and come in when one is free", async () => {
  const paces = openPaces();
  const [first, second] = [await place(paces), await place(paces)];
  const order: string[] = [];
  const third = paces.enter(town).then(() => order.push("third"));
  const fourth = paces.enter(town).then(() => order.push("fourth"));
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual([]);
  first.leave(null);
  await third;
  expect(order).toEqual(["third"]);
  second.leave(null);
  await fourth;
});

test.each([
  "421 4.7.0 Try again later, closing connection",
  "450 4.2.1 The user is receiving mail at a rate that prevents additional messages",
])("%s halves the places and the rate, and holds everything back", async (reply) => {
  const paces = openPaces(8);
  for (let n = 0; n < 40; n++) await talk(paces, "250 ok");
  expect(paces.known(town).places).toBe(8);
  await talk(paces, reply);
  expect(paces.known(town)).toEqual({ places: 4, perMinute: 20, heldForMs: 30_000 });
  const waitMs = await waitOf(paces);
  expect(waitMs).toBeGreaterThan(28_000);
  expect(waitMs).toBeLessThan(40_000);
});

test("refusals that were all under way together lower it once", async () => {
  const paces = openPaces(8);
  for (let n = 0; n < 40; n++) await talk(paces, "250 ok");
  const together = await Promise.all(Array.from({ length: 8 }, () => place(paces)));
  for (const each of together) each.talk();
  vi.advanceTimersByTime(10);
  for (const each of together) each.leave(answer("421 too many connections"));
  expect(paces.known(town)).toMatchObject({ places: 4, heldForMs: 30_000 });
});

test("each further refusal doubles the time that is held, up to a quarter of an hour, and success ends that", async () => {
  const paces = openPaces();
  const held: number[] = [];
  for (let n = 0; n < 7; n++) {
    await talk(paces, "421 not now");
    held.push(paces.known(town).heldForMs / 1_000);
    vi.advanceTimersByTime(20 * minuteMs);
  }
  expect(held).toEqual([30, 60, 120, 240, 480, 900, 900]);
  await talk(paces, "250 ok");
  vi.advanceTimersByTime(20 * minuteMs);
  await talk(paces, "421 not now");
  expect(paces.known(town).heldForMs).toBe(30_000);
});

test("the rate rises by steps with what is taken, until nothing limits it", async () => {
  const paces = openPaces();
  await talk(paces, "421 not now");
  expect(paces.known(town).perMinute).toBe(1);
  const seen = [];
  for (let n = 0; n < 12; n++) {
    vi.advanceTimersByTime(10 * minuteMs);
    await talk(paces, "250 ok");
    seen.push(paces.known(town).perMinute);
  }
  expect(seen).toEqual([11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 21]);
  for (let n = 0; paces.known(town).perMinute !== null; n++) {
    expect(n).toBeLessThan(100_000);
    vi.advanceTimersByTime(minuteMs);
    await talk(paces, "250 ok");
  }
});

test("a slow dialogue stays alone, and what else is there goes back, one after the other", async () => {
  const paces = openPaces();
  const tarpit = await place(paces);
  tarpit.talk();
  vi.advanceTimersByTime(10_000);
  const waits = [];
  for (let n = 0; n < 3; n++) waits.push(await waitOf(paces));
  expect(waits[0]).toBeGreaterThan(1_000);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(new Set(waits).size).toBe(3);
  tarpit.leave(answer("250 ok"));
  const next = await place(paces);
  expect(await waitOf(paces)).toBeGreaterThan(0);
  next.leave(null);
});

test("whoever waits for a place is sent back after two seconds, and at once when the destination says stop", async () => {
  const paces = openPaces();
  const [first] = [await place(paces), await place(paces)];
  expect(await waitOf(paces)).toBeGreaterThan(0);
  const entering = paces.enter(town);
  first.talk();
  first.leave(answer("421 stop"));
  expect(await entering).toMatchObject({ waitMs: expect.any(Number) });
});

test("a destination that cannot be reached keeps one place, and refusals that speak of other things change nothing", async () => {
  const paces = openPaces();
  await talk(paces, "550 5.1.1 no such user");
  await talk(paces, "451 4.7.1 Greylisted, please try again in 300 seconds");
  expect(paces.known(town)).toEqual({ places: 2, perMinute: null, heldForMs: 0 });
  await talk(paces, unreached);
  expect(paces.known(town)).toEqual({ places: 1, perMinute: null, heldForMs: 0 });
});

test("one destination's pace is not another's, and those in use outlast the most that are remembered", async () => {
  const paces = openPaces(5, 2);
  await talk(paces, "421 not now");
  for (let n = 0; n < 50; n++) (await place(paces, `other${n}.example`)).leave(null);
  expect(await waitOf(paces, "other.example")).toBe(0);
  expect(await waitOf(paces)).toBeGreaterThan(20_000);
});

test("a ceiling holds whatever the destination bears, and what was learned stands below it", async () => {
  const paces = openPaces();
  for (let n = 0; n < 12; n++) await talk(paces, "250 ok");
  expect(paces.known(town)).toMatchObject({ places: 5, perMinute: null });
  paces.limit(town, { places: 1, perMinute: 60 });
  expect(paces.known(town)).toMatchObject({ places: 1, perMinute: 60 });
  const first = await place(paces);
  first.talk();
  first.leave(answer("250 ok"));
  const second = paces.enter(town);
  await vi.advanceTimersByTimeAsync(999);
  expect(await Promise.race([second, "not yet"])).toBe("not yet");
  await vi.advanceTimersByTimeAsync(1);
  expect(await second).toHaveProperty("leave");

  paces.limit(town, null);
  expect(paces.known(town)).toMatchObject({ places: 5, perMinute: null });
});

test("a destination of which others have all places gives none, and some as soon as it may", async () => {
  const paces = openPaces();
  paces.limit(town, { places: 0, perMinute: null });
  expect(await waitOf(paces)).toBeGreaterThan(0);
  paces.limit(town, { places: 1, perMinute: null });
  expect(await waitOf(paces)).toBe(0);
});

test("a destination that takes less than its ceiling is given less", async () => {
  const paces = openPaces();
  paces.limit(town, { places: 4, perMinute: 600 });
  await talk(paces, "421 4.7.0 too many");
  expect(paces.known(town)).toMatchObject({ places: 1, perMinute: 1 });
});
