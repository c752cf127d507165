/**
 * The powers of two, in ms, of the periods that search terms name: 12 days, 9 hours, 17 minutes and 33
 * seconds.
 */
const PERIOD_BITS = [30, 25, 20, 15] as const;
const [scopeBits] = PERIOD_BITS;
export const smallestPeriodBits = 15;
/** Periods of one size that the next larger one contains. */
const perLarger = 32;

/**
 * Consecutive periods of 2^`bits` ms, counted from 1970, in the order in which they are searched. All terms
 * belong to a period of 2^`scopeBits` ms.
 */
export type PeriodRun = { bits: number; first: number; last: number; scopeBits: number };

/**
 * Divides a time range, given in ms, into periods: small ones at its beginning, growing with the distance
 * from it, and not longer than the rest of the range at its end. `newest` begins with the latest time.
 */
export function periodRuns(
  { fromMs, toMs }: { fromMs: number; toMs: number },
  order: "newest" | "oldest",
): PeriodRun[] {
  const smallestMs = 2 ** smallestPeriodBits;
  const step = order === "newest" ? -1 : 1;
  const [low, high] = [Math.floor(fromMs / smallestMs), Math.floor(toMs / smallestMs)];
  const runs: PeriodRun[] = [];
  for (let next = order === "newest" ? high : low; next >= low && next <= high; ) {
    const bits = PERIOD_BITS.find((larger) => {
      const size = 2 ** (larger - smallestPeriodBits);
      const start = order === "newest" ? next - size + 1 : next;
      return start % size === 0 && start >= low && start + size - 1 <= high;
    });
    const own = bits ?? smallestPeriodBits;
    const size = 2 ** (own - smallestPeriodBits);
    const period = Math.floor(next / size);
    const run = runs.at(-1);
    if (run?.bits === own) run.last = period;
    else runs.push({ bits: own, first: period, last: period, scopeBits });
    next += step * size;
  }
  return runs;
}

/** The parts of one period, which is not one of the smallest. */
export function subperiodsOf(bits: number, period: number, order: "newest" | "oldest"): PeriodRun {
  const smaller = PERIOD_BITS.find((other) => other < bits) ?? smallestPeriodBits;
  const [low, high] = [period * perLarger, period * perLarger + perLarger - 1];
  const [first, last] = order === "newest" ? [high, low] : [low, high];
  return { bits: smaller, first, last, scopeBits };
}
