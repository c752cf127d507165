import { performance } from "node:perf_hooks";
import type { AskDns } from "./dns";

/** What a domain demands of whoever brings it mail. `covers` tells whether a host is one of its mail servers. */
export type StsPolicy = { mode: "enforce" | "testing" | "none"; covers(host: string): boolean };

/** Fetches over https, valid certificate demanded, no redirect followed; null for whatever is no 200. */
export type FetchPolicy = (url: string) => Promise<{ contentType: string; body: string } | null>;

/** The policy of a domain; null where it has none that is known. Never rejects. */
export type FindStsPolicy = (domain: string, signal: AbortSignal) => Promise<StsPolicy | null>;

type Known = { id: string; policy: StsPolicy; untilMs: number };

/** RFC 8461 section 3.2 allows a year. */
const ageMaxSeconds = 31_557_600;
const policiesMax = 10_000;
/** What could not be fetched is not asked for again sooner (RFC 8461 section 3.3 suggests five minutes). */
const missedForMs = 300_000;

/**
 * Finds MTA-STS policies (RFC 8461) and keeps them for as long as they say. A record with another id fetches anew; where
 * that fails, or the record is gone, a policy that is still valid holds, since an attacker could have taken it away.
 * Policies are kept by this process alone.
 */
export function createFindStsPolicy(dns: AskDns, fetchPolicy: FetchPolicy): FindStsPolicy {
  const kept = new Map<string, Known>();
  const missed = new Map<string, number>();

  return async (domain, signal) => {
    const known = kept.get(domain);
    const valid = known !== undefined && known.untilMs > performance.now() ? known : null;
    const id = await readId(dns, domain, signal);
    if (id === null || id === valid?.id) return valid?.policy ?? null;
    if ((missed.get(domain) ?? Number.NEGATIVE_INFINITY) > performance.now()) return valid?.policy ?? null;

    const answer = await fetchPolicy(`https://mta-sts.${domain}/.well-known/mta-sts.txt`).catch(() => null);
    const read = answer === null ? null : readPolicy(answer.contentType, answer.body);
    if (read === null) {
      keep(missed, domain, performance.now() + missedForMs);
      return valid?.policy ?? null;
    }
    missed.delete(domain);
    keep(kept, domain, {
      id,
      policy: read.policy,
      untilMs: performance.now() + read.maxAgeSeconds * 1_000,
    });
    return read.policy;
  };
}

/** The id of the one record that there may be (RFC 8461 section 3.1); null without it. */
async function readId(dns: AskDns, domain: string, signal: AbortSignal): Promise<string | null> {
  const answer = await dns(`_mta-sts.${domain}`, "TXT", signal);
  if (answer.kind !== "answer") return null;
  const records = answer.records
    .map((strings) => strings.join(""))
    .filter((text) => /^v=STSv1\s*;/.test(text));
  return records.length === 1
    ? (/;\s*id=([A-Za-z0-9]{1,32})\s*(?:;|$)/.exec(records[0] ?? "")?.[1] ?? null)
    : null;
}

/** Reads a policy file (RFC 8461 section 3.2); null for one that is not valid. */
export function readPolicy(
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

/** A star stands for exactly one label, the leftmost (RFC 8461 section 4.1). */
function matches(host: string, pattern: string): boolean {
  if (!pattern.startsWith("*.")) return host === pattern;
  const dot = host.indexOf(".");
  return dot > 0 && host.slice(dot) === pattern.slice(1);
}

/** Adds to a map that forgets its oldest entry when it is full. */
function keep<T>(into: Map<string, T>, key: string, value: T): void {
  into.delete(key);
  const oldest = into.size < policiesMax ? undefined : into.keys().next().value;
  if (oldest !== undefined) into.delete(oldest);
  into.set(key, value);
}
