import { performance } from "node:perf_hooks";
import { setBounded } from "#server/platform/bounded-map";
import type { QueryDns } from "./dns";

/** The MTA-STS policy of a domain. `covers` returns whether the policy lists a host. */
export type StsPolicy = { mode: "enforce" | "testing" | "none"; covers(host: string): boolean };

/** Fetches over HTTPS with a valid certificate and without redirects; null for any status other than 200. */
export type FetchPolicy = (url: string) => Promise<{ contentType: string; body: string } | null>;

/** Returns the policy of a domain; null if none is known. Never rejects. */
export type FindStsPolicy = (domain: string, signal: AbortSignal) => Promise<StsPolicy | null>;

type Cached = { id: string; policy: StsPolicy; expiresMs: number };

/** RFC 8461 section 3.2 allows a year. */
const ageMaxSeconds = 31_557_600;
const policiesMax = 10_000;
/** Delay after a failed fetch (RFC 8461 section 3.3 suggests five minutes). */
const retryAfterMs = 300_000;

/**
 * Finds MTA-STS policies (RFC 8461) and caches them for their `max_age`. A record with a new id triggers a
 * new fetch. If the fetch fails or the record is missing, a cached policy stays in force until it expires,
 * because an attacker could have removed the record. The cache belongs to this process.
 */
export function createFindStsPolicy(dns: QueryDns, fetchPolicy: FetchPolicy): FindStsPolicy {
  const policies = new Map<string, Cached>();
  const retryTimes = new Map<string, number>();

  return async (domain, signal) => {
    const cached = policies.get(domain);
    const valid = cached !== undefined && cached.expiresMs > performance.now() ? cached : null;
    const id = await readId(dns, domain, signal);
    if (id === null || id === valid?.id) return valid?.policy ?? null;
    if ((retryTimes.get(domain) ?? Number.NEGATIVE_INFINITY) > performance.now())
      return valid?.policy ?? null;

    const response = await fetchPolicy(`https://mta-sts.${domain}/.well-known/mta-sts.txt`).catch(() => null);
    const read = response === null ? null : parsePolicy(response.contentType, response.body);
    if (read === null) {
      setBounded(retryTimes, domain, performance.now() + retryAfterMs, policiesMax);
      return valid?.policy ?? null;
    }
    retryTimes.delete(domain);
    const expiresMs = performance.now() + read.maxAgeSeconds * 1_000;
    setBounded(policies, domain, { id, policy: read.policy, expiresMs }, policiesMax);
    return read.policy;
  };
}

/** The id of the domain's record (RFC 8461 section 3.1); null without exactly one record. */
async function readId(dns: QueryDns, domain: string, signal: AbortSignal): Promise<string | null> {
  const answer = await dns(`_mta-sts.${domain}`, "TXT", signal);
  if (answer.kind !== "answer") return null;
  const records = answer.records
    .map((strings) => strings.join(""))
    .filter((text) => /^v=STSv1\s*;/.test(text));
  return records.length === 1
    ? (/;\s*id=([A-Za-z0-9]{1,32})\s*(?:;|$)/.exec(records[0] ?? "")?.[1] ?? null)
    : null;
}

/** Parses a policy file (RFC 8461 section 3.2); null if it is invalid. */
export function parsePolicy(
  contentType: string,
  body: string,
): { policy: StsPolicy; maxAgeSeconds: number } | null {
  if (!/^text\/plain\b/i.test(contentType.trim())) return null;
  const fields = body.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(":");
    return at === -1 ? [] : [{ name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() }];
  });
  const first = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const mode = first("mode");
  const maxAge = first("max_age");
  const patterns = fields
    .filter((field) => field.name === "mx")
    .map(({ value }) => value.toLowerCase().replace(/\.$/, ""));
  if (first("version") !== "STSv1" || !isMode(mode) || !/^[0-9]{1,10}$/.test(maxAge)) return null;
  if (patterns.length === 0 && mode !== "none") return null;
  return {
    policy: { mode, covers: (host) => patterns.some((pattern) => matches(host.toLowerCase(), pattern)) },
    maxAgeSeconds: Math.min(Number(maxAge), ageMaxSeconds),
  };
}

const isMode = (text: string): text is StsPolicy["mode"] => ["enforce", "testing", "none"].includes(text);

/** A wildcard matches exactly one label, the leftmost (RFC 8461 section 4.1). */
function matches(host: string, pattern: string): boolean {
  if (!pattern.startsWith("*.")) return host === pattern;
  const dot = host.indexOf(".");
  return dot > 0 && host.slice(dot) === pattern.slice(1);
}
