import { Resolver } from "node:dns/promises";
import type { Answer } from "dns-packet";
import { formatNameServer, type NameServer } from "#server/platform/egress/resolve";
import { isEncodable, queryValidating, type ValidatedResponse } from "./dnssec";

/** A TLSA record (RFC 6698 section 2.1). `certificate` is the association data. */
export type Tlsa = { usage: number; selector: number; matchingType: number; certificate: Buffer };

/** Record types and the shape of one record. A TXT record is its list of character-strings, not joined. */
type RecordOf = {
  TXT: string[];
  MX: { exchange: string; priority: number };
  CNAME: string;
  A: string;
  AAAA: string;
  PTR: string;
  TLSA: Tlsa;
};
export type DnsType = keyof RecordOf;
export type DnsRecord<T extends DnsType> = RecordOf[T];

/**
 * The result of one DNS query. `nxdomain`: the name does not exist. `nodata`: the name has no record of that
 * type (both RFC 2308). `servfail` covers every error response. `resolver` is the `address:port` that
 * responded, or the last one queried. `isSecure`: a trusted name server validated the answer with DNSSEC,
 * also one without records; `owner` is then the name of the records, at the end of aliases.
 */
export type DnsAnswer<T extends DnsType = DnsType> = {
  name: string;
  type: T;
  resolver: string;
  isSecure?: true;
} & (
  | { kind: "answer"; records: RecordOf[T][]; owner?: string }
  | { kind: "nxdomain" | "nodata" | "servfail" | "timeout" }
);

/** Sends one DNS query. Never rejects; an aborted `signal` gives `timeout`. */
export type QueryDns = <T extends DnsType>(
  name: string,
  type: T,
  signal?: AbortSignal,
) => Promise<DnsAnswer<T>>;

/** Of one try of one query. */
const queryTimeoutMs = 2_000;
const tries = 2;
const serversMax = 3;

const KIND_OF_CODE: Record<string, "nxdomain" | "nodata" | "timeout"> = {
  ENOTFOUND: "nxdomain",
  // A name above the length limit of DNS does not exist.
  EBADNAME: "nxdomain",
  ENODATA: "nodata",
  ETIMEOUT: "timeout",
  ECANCELLED: "timeout",
};

/**
 * Returns one query function per name server, to compare their answers. Without `servers` each call uses the
 * system's current name servers. At most three name servers. `isTrusted`: whether the name server at this
 * address is asked for DNSSEC validation and its result is trusted.
 */
export function createResolvers(
  servers: readonly NameServer[] = [],
  timeoutMs = queryTimeoutMs,
  isTrusted = (_host: string) => false,
): () => QueryDns[] {
  const configured = servers.map(formatNameServer);
  return () => {
    const addresses = new Set(configured.length > 0 ? configured : new Resolver().getServers());
    return [...addresses].slice(0, serversMax).map(
      (server): QueryDns =>
        (name, type, signal) =>
          (isTrusted(parseNameServer(server).host) ? queryTrusted : queryServer)(server, name, type, {
            signal,
            timeoutMs,
          }),
    );
  };
}

/**
 * Queries the given name servers, or those of the system, one after the other until one responds without an
 * error. The result names the server. Does not cache.
 */
export function createQueryDns(...options: Parameters<typeof createResolvers>): QueryDns {
  const resolvers = createResolvers(...options);
  return async <T extends DnsType>(name: string, type: T, signal?: AbortSignal) => {
    let answer: DnsAnswer<T> = { name, type, resolver: "none", kind: "servfail" };
    for (const query of resolvers()) {
      answer = await query(name, type, signal);
      if ((answer.kind !== "servfail" && answer.kind !== "timeout") || signal?.aborted) break;
    }
    return answer;
  };
}

/** Reads `address`, `address:port` or `[address]:port`, as Node lists name servers. */
function parseNameServer(server: string): NameServer {
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(server) ?? [];
  return { host: v6 ?? v4 ?? server, port: Number(port ?? 53) };
}

type QueryOptions = { signal: AbortSignal | undefined; timeoutMs: number };

async function queryTrusted<T extends DnsType>(
  server: string,
  name: string,
  type: T,
  { signal, timeoutMs }: QueryOptions,
): Promise<DnsAnswer<T>> {
  const place = parseNameServer(server);
  const query = { name, type, resolver: formatNameServer(place) };
  if (!isEncodable(name)) return { ...query, kind: "nxdomain" };
  for (let tried = 0; tried < tries && !signal?.aborted; tried += 1) {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const limit = signal ? AbortSignal.any([signal, timeout]) : timeout;
      return { ...query, ...readResponse(type, await queryValidating(place, name, type, limit)) };
    } catch {
      if (!timeout.aborted && !signal?.aborted) return { ...query, kind: "servfail" };
    }
  }
  return { ...query, kind: "timeout" };
}

function readResponse<T extends DnsType>(type: T, { rcode, isSecure, answers }: ValidatedResponse) {
  const validated = isSecure ? { isSecure } : {};
  if (rcode === "NXDOMAIN") return { ...validated, kind: "nxdomain" as const };
  if (rcode !== "NOERROR") return { kind: "servfail" as const };
  const found = answers.filter((answer) => answer.type === type);
  const [first] = found;
  return first
    ? { ...validated, kind: "answer" as const, owner: first.name, records: found.map(readRecord<T>) }
    : { ...validated, kind: "nodata" as const };
}

/** The types are those of the query. */
function readRecord<T extends DnsType>(answer: Answer): RecordOf[T] {
  const { data } = answer as { data: unknown };
  if (answer.type === "TXT") return [answer.data].flat().map(String) as RecordOf[T];
  if (answer.type !== "MX") return data as RecordOf[T];
  const { exchange, preference: priority = 0 } = answer.data;
  return { exchange, priority } as RecordOf[T];
}

async function queryServer<T extends DnsType>(
  server: string,
  name: string,
  type: T,
  { signal, timeoutMs }: QueryOptions,
): Promise<DnsAnswer<T>> {
  const query = { name, type, resolver: formatNameServer(parseNameServer(server)) };
  if (signal?.aborted) return { ...query, kind: "timeout" };
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  const cancel = () => resolver.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    resolver.setServers([server]);
    const records = await RESOLVE_BY_TYPE[type](resolver, name);
    // A CNAME whose target has no record of this type gives a successful response without records.
    return records.length === 0 ? { ...query, kind: "nodata" } : { ...query, kind: "answer", records };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { ...query, kind: KIND_OF_CODE[code] ?? "servfail" };
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

const RESOLVE_BY_TYPE: { [T in DnsType]: (resolver: Resolver, name: string) => Promise<RecordOf[T][]> } = {
  TXT: (resolver, name) => resolver.resolveTxt(name),
  MX: (resolver, name) => resolver.resolveMx(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  PTR: (resolver, name) => resolver.resolvePtr(name),
  // Only a validated answer counts, which this resolver cannot return.
  TLSA: async () => [],
};
