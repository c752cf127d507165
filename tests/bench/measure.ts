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
