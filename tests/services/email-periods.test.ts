import { describe, expect, test } from "vitest";
import { type PeriodRun, periodRuns, subperiodsOf } from "#server/services/emails/read/periods";

const spansOf = ({ bits, first, last }: PeriodRun): [number, number][] => {
  const step = first <= last ? 1 : -1;
  const periods = Array.from({ length: Math.abs(last - first) + 1 }, (_, n) => first + n * step);
  return periods.map((period) => [period * 2 ** bits, (period + 1) * 2 ** bits]);
};

describe.each(["newest", "oldest"] as const)("the periods of a time range, %s first", (order) => {
  test.each([
    [1_700_000_000_000, 1_700_000_000_000],
    [1_700_000_000_000, 1_700_000_040_000],
    [1_700_000_000_000, 1_700_050_000_000],
    [1_500_000_000_000, 1_700_000_000_000],
    [2 ** 30 * 1_500, 2 ** 30 * 1_501 - 1],
  ])("follow each other without a gap from %i to %i, and are few", (fromMs, toMs) => {
    const runs = periodRuns({ fromMs, toMs }, order);
    const spans = runs.flatMap(spansOf);
    const ascending = order === "newest" ? spans.toReversed() : spans;
    expect(ascending[0]?.[0]).toBeLessThanOrEqual(fromMs);
    expect(ascending.at(-1)?.[1]).toBeGreaterThan(toMs);
    for (const [n, [start]] of ascending.entries()) if (n > 0) expect(start).toBe(ascending[n - 1]?.[1]);
    expect(spans.length).toBeLessThan(200 + (toMs - fromMs) / 2 ** 30);
  });

  test("divide into parts that cover the same time", () => {
    const parts = spansOf(subperiodsOf(25, 1_000, order));
    const ascending = order === "newest" ? parts.toReversed() : parts;
    expect([parts.length, ascending[0]?.[0], ascending.at(-1)?.[1]]).toEqual([
      32,
      1_000 * 2 ** 25,
      1_001 * 2 ** 25,
    ]);
  });
});
