import { beforeAll, expect, test, vi } from "vitest";
import { getMetrics } from "#server/services/metrics/read";
import { sumLargest } from "#server/services/metrics/sum";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const hourMs = 3_600_000;
const world = forAllTests(() => createWorld());
/** When the emails were accepted, each with one recipient. */
let times: Date[];

beforeAll(async () => {
  const now = world.ctx.clock().getTime();
  // At the first and the last minute of days, in the middle of one, and now.
  const midnight = Math.floor(now / (24 * hourMs)) * 24 * hourMs;
  times = [
    ...[1, 2, 3, 4].flatMap((days) =>
      [0, 11.5, 23.99].map((hours) => new Date(midnight - days * 24 * hourMs + hours * hourMs)),
    ),
    new Date(now),
  ];
  for (const [nth, at] of times.entries()) {
    const tags = [{ name: "nth", value: String(nth % 3) }];
    const { id } = await world.send({ sender: "ann@backstamp.test", to: ["ben@backstamp.test"], tags });
    await world.hot`update emails set created_at = ${at} where id = ${id}`;
  }
  // The counts follow the feed, which waits for open transactions of other tests in the cluster.
  const counted = async () => (await read(hoursAgo(200), hoursAgo(-1))).totals.received;
  await vi.waitUntil(async () => (await counted()) === times.length, { timeout: 20_000, interval: 50 });
});

const read = (startAt: Date, endAt: Date, more: object = {}) =>
  getMetrics(world.ctx, {
    startAt,
    endAt,
    timeZone: "UTC",
    granularity: "daily",
    dimensions: [],
    filter: {},
    ...more,
  });
const acceptedBetween = (startAt: Date, endAt: Date) =>
  times.filter((at) => at >= startAt && at < endAt).length;
const hoursAgo = (hours: number) =>
  new Date((Math.floor(world.ctx.clock().getTime() / hourMs) - hours) * hourMs);

test("each recipient counts once in any range of hours, whether it begins or ends within a day", async () => {
  for (const [from, until] of [
    [0, -1],
    [5, 2],
    [24, -1],
    [40, 1],
    [49, 23],
    [96, 48],
    [101, 3],
    [120, -1],
    [77, 76],
    // Until the start of the current hour: the emails of this hour are not included.
    [49, 0],
    [120, 0],
  ] as const) {
    const [startAt, endAt] = [hoursAgo(from), hoursAgo(until)];
    const expected = acceptedBetween(startAt, endAt);
    const range = `from ${startAt.toISOString()} until ${endAt.toISOString()}`;
    expect((await read(startAt, endAt)).totals.received, range).toBe(expected);
    for (const timeZone of ["UTC", "Europe/Berlin", "America/New_York"]) {
      const byDay = await read(startAt, endAt, { timeZone, dimensions: ["period"] });
      expect(byDay.totals.received, `${range} in ${timeZone}`).toBe(expected);
    }
    const byTag = await sumLargest(world.ctx, { startAt, endAt, dimensions: ["tag"], filter: {} }, 50);
    expect(
      byTag.rows.reduce((sum, { received }) => sum + received, 0),
      `by tag ${range}`,
    ).toBe(expected);
  }
});

test("a table has the tags with the most recipients and the number of the others", async () => {
  const { rows, hidden } = await sumLargest(
    world.ctx,
    { startAt: hoursAgo(121), endAt: hoursAgo(-1), dimensions: ["tag"], filter: {} },
    1,
  );
  expect(rows).toMatchObject([{ tag: "nth:0", received: 5 }]);
  expect(hidden).toBe(2);
});

test("a month in UTC reads the rows of days, and of the hours at its ends", async () => {
  // Rows of hours that no day has would show in the sum.
  for (const table of ["recipient_counts", "recipient_totals"])
    await world.hot`
      update ${world.hot(table)} set received = received + 100
      where unit = 'hour' and team_id = ${world.ctx.teamId}`;
  const [first, last] = [hoursAgo(24 * 30), hoursAgo(-1)];
  for (const filter of [{}, { domains: ["backstamp.test"], provider: "other" }]) {
    const { totals } = await read(first, last, { dimensions: ["period"], filter });
    expect(totals.received).toBe(times.length);
  }
});
