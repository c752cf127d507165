import { performance } from "node:perf_hooks";
import { setBounded } from "#server/platform/bounded-map";
import { within } from "#server/platform/within";
import type { DnsAnswer, DnsType, QueryDns } from "./dns";

const ttlMs = 60_000;
/** Negative answers expire before the next attempt of an email, which is at least 15 seconds later. */
const negativeTtlMs = 10_000;
const answersMax = 10_000;

/**
 * Caches DNS answers for one minute and merges concurrent queries. Use it for delivery, where many emails go
 * to few destinations; domain verification must use a new one for each check. Failed queries are not cached.
 */
export function createCachedDns(query: QueryDns, nowMs = () => performance.now()): QueryDns {
  const answers = new Map<string, { expiresMs: number; answer: Promise<DnsAnswer> }>();

  const queryCached = async (name: string, type: DnsType): Promise<DnsAnswer> => {
    const key = `${type} ${name.toLowerCase()}`;
    const cached = answers.get(key);
    if (cached !== undefined && cached.expiresMs > nowMs()) return cached.answer;
    // Concurrent callers share this query, so it does not use a caller's signal. It has its own time limits.
    const answer = query(name, type);
    setBounded(answers, key, { expiresMs: nowMs() + ttlMs, answer }, answersMax);
    const { kind } = await answer;
    if (kind === "servfail" || kind === "timeout") answers.delete(key);
    else if (kind !== "answer") answers.set(key, { expiresMs: nowMs() + negativeTtlMs, answer });
    return answer;
  };

  return async <T extends DnsType>(name: string, type: T, signal?: AbortSignal): Promise<DnsAnswer<T>> => {
    const timeout: DnsAnswer<T> = { name, type, resolver: "none", kind: "timeout" };
    // The cache key contains the type, so the answer has this type.
    const answer = queryCached(name, type) as Promise<DnsAnswer<T>>;
    return within(answer, { signal }).catch(() => timeout);
  };
}
