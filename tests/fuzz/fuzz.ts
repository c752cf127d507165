import fc from "fast-check";
import { expect } from "vitest";
import { routes } from "#server/rest/routes";
import { nameOf } from "../rest/route-calls";
import { plansOver } from "./plans";
import { openRange } from "./range";

/** `FUZZ_SEED` repeats a run; without it each run is different. */
export const seed = Number(process.env.FUZZ_SEED ?? (Date.now() + process.pid) % 2 ** 31);

/** The number of requests, unless `FUZZ_REQUESTS` sets it. */
export const requestsOf = (usual: number): number => Number(process.env.FUZZ_REQUESTS ?? usual);

/**
 * Makes that many requests over all routes, one after the other. `Range.run` checks each of them. Of all, at
 * least a third must succeed, each route at least once, and hardly any may be rejected by authentication or
 * limits. The first failure is reduced and reported with what is needed to repeat it.
 */
export async function fuzz(requests: number): Promise<void> {
  const range = await openRange();
  try {
    for (const route of routes.keys()) await range.run({ route, mutations: [] });
    const runs = requests - routes.length;
    await fc.assert(fc.asyncProperty(plansOver(routes), range.run), { seed, numRuns: runs });
    await range.judge();
    const { good, limited, unauthorized, reached } = range.count;
    expect(range.count.requests).toBe(requests);
    expect(routes.map(nameOf).filter((name) => !reached.has(name))).toEqual([]);
    expect(good).toBeGreaterThan(requests / 3);
    expect(limited + unauthorized).toBeLessThan(requests / 100);
  } finally {
    await range.close();
  }
}
