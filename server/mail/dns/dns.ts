import { Resolver } from "node:dns/promises";
import { formatNameServer, type NameServer } from "#server/platform/egress/resolve";

/** Record types and the shape of one record. A TXT record is its list of character-strings, not joined. */
type RecordOf = {
  TXT: string[];
  MX: { exchange: string; priority: number };
  CNAME: string;
  A: string;
  AAAA: string;
  PTR: string;
};
export type DnsType = keyof RecordOf;
export type DnsRecord<T extends DnsType> = RecordOf[T];

/**
 * The result of one DNS query. `nxdomain`: the name does not exist. `nodata`: the name has no record of that
 * type (both RFC 2308). `servfail` covers every error response. `resolver` is the `address:port` that
 * responded, or the last one queried.
 */
export type DnsAnswer<T extends DnsType = DnsType> = { name: string; type: T; resolver: string } & (
  | { kind: "answer"; records: RecordOf[T][] }
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
 * system's current name servers. At most three name servers.
 */
export function createResolvers(
  servers: readonly NameServer[] = [],
  timeoutMs = queryTimeoutMs,
): () => QueryDns[] {
  const configured = servers.map(formatNameServer);
  return () => {
    const addresses = new Set(configured.length > 0 ? configured : new Resolver().getServers());
    return [...addresses].slice(0, serversMax).map(
      (server): QueryDns =>
        (name, type, signal) =>
          queryServer(server, name, type, { signal, timeoutMs }),
    );
  };
}

/**
 * Queries the given name servers, or those of the system, one after the other until one responds without an
 * error. The result names the server. Does not cache.
 */
export function createQueryDns(servers: readonly NameServer[] = [], timeoutMs = queryTimeoutMs): QueryDns {
  const resolvers = createResolvers(servers, timeoutMs);
  return async <T extends DnsType>(name: string, type: T, signal?: AbortSignal) => {
    let answer: DnsAnswer<T> = { name, type, resolver: "none", kind: "servfail" };
    for (const query of resolvers()) {
      answer = await query(name, type, signal);
      if ((answer.kind !== "servfail" && answer.kind !== "timeout") || signal?.aborted) break;
    }
    return answer;
  };
}

async function queryServer<T extends DnsType>(
  server: string,
  name: string,
  type: T,
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<DnsAnswer<T>> {
  const query = { name, type, resolver: /\]:|^[^:]+:/.test(server) ? server : `${server}:53` };
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
};
