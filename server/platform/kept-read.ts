import { performance } from "node:perf_hooks";

/**
 * A read that runs at most once at a time, and whose result is used until `keptMs` after its end: meanwhile,
 * all calls receive the same one. A read that failed is not kept.
 */
export function createKeptRead<Args extends unknown[], Result>(
  read: (...args: Args) => Promise<Result>,
  keptMs: number,
  nowMs = () => performance.now(),
): (...args: Args) => Promise<Result> {
  let latest: { result: Promise<Result>; untilMs: number } | null = null;
  return (...args) => {
    if (latest && nowMs() < latest.untilMs) return latest.result;
    const kept = { result: read(...args), untilMs: Number.POSITIVE_INFINITY };
    const end = (untilMs: number) => {
      kept.untilMs = untilMs;
    };
    kept.result.then(
      () => end(nowMs() + keptMs),
      () => end(0),
    );
    latest = kept;
    return kept.result;
  };
}
