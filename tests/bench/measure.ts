import { type Budget, comparedLine, type Line } from "./report";

/** One side of a comparison: a run that returns one number. A warm-up run may be shorter. */
export type Side = (run: { isWarmUp: boolean }) => Promise<number>;

export const pairsMin = 3;

/**
 * Alternates the sides, A B A B, after one warm-up each, so that other load on the machine affects all of
 * them equally. Returns the numbers of each side in the order of the rounds.
 */
export async function runAlternately<Name extends string>(
  sides: Record<Name, Side>,
  rounds: number = pairsMin,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  for (const name of names) await sides[name]({ isWarmUp: true });
  const numbers = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of names) numbers[name].push(await sides[name]({ isWarmUp: false }));
  return numbers;
}

export function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2;
}

/** The median of the ratios of each round: measurements close in time are compared. */
export function medianRatio(above: readonly number[], below: readonly number[]): number {
  return medianOf(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}

/** A line about two sides that run alternately: what is measured, and its reference. */
export async function compareSides(compared: {
  what: string;
  measured: Side;
  reference: Side;
  /** What the reference is. */
  beside: string;
  format: (median: number) => string;
  budget: Budget;
  rounds?: number;
}): Promise<Line> {
  const { what, beside, format, budget, rounds } = compared;
  const sides = { measured: compared.measured, reference: compared.reference };
  const { measured, reference } = await runAlternately(sides, rounds);
  return comparedLine({
    what,
    measured: format(medianOf(measured)),
    floor: `${beside}: ${format(medianOf(reference))}`,
    ratio: medianRatio(measured, reference),
    budget,
  });
}

/** Milliseconds of a query, the median of several. */
export async function medianMs(ask: () => Promise<unknown>, times = 20): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedMs = performance.now();
    await ask();
    tookMs.push(performance.now() - startedMs);
  }
  return medianOf(tookMs);
}
