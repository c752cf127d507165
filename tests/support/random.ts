import { createHash } from "node:crypto";

/** Reproducible random numbers: the same seed gives the same sequence on every machine. */
export type Random = {
  /** In [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** An integer from 1 to `max`. */
  upTo(max: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  shuffled<T>(items: readonly T[]): T[];
};

/** A separate generator for each purpose, so that calls of one do not change the numbers of another. */
export function createRandom(seed: string): Random {
  // SplitMix32 on 32 bits of the seed's digest: fast, and more than random enough for tests.
  let state = createHash("sha256").update(seed).digest().readUInt32LE();
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    upTo: (max) => 1 + Math.floor(next() * max),
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    shuffled(items) {
      const order = items.map((item) => ({ item, rank: next() }));
      return order.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
    },
  };
}
