import { Resolver } from "node:dns/promises";

/** What is asked for, and the form of one record of it. A TXT record is its character-strings, not yet joined. */
type RecordOf = {
  TXT: string[];
  MX: { exchange: string; priority: number };
  CNAME: string;
  A: string;
  AAAA: string;
};
export type DnsType = keyof RecordOf;

/**
 * What became of one question. `nxdomain`: there is no such name; `nodata`: the name has no record of that type (both
 * RFC 2308). `servfail` covers every way in which a server says that it cannot tell. `resolver` is the `address:port`
 * that answered, or the one that was asked last.
 */
export type DnsAnswer<T extends DnsType = DnsType> = { name: string; type: T; resolver: string } & (
  | { kind: "answer"; records: RecordOf[T][] }
  | { kind: "nxdomain" | "nodata" | "servfail" | "timeout" }
);

/** Asks one question. Never rejects; a `signal` that is aborted makes it `timeout`. */
export type AskDns = <T extends DnsType>(
  name: string,
  type: T,
  signal?: AbortSignal,
) => Promise<DnsAnswer<T>>;

const patienceMs = 2_000;
const tries = 2;
const serversMax = 3;

const KIND_OF_CODE: Record<string, "nxdomain" | "nodata" | "timeout"> = {
  ENOTFOUND: "nxdomain",
  // A name longer than DNS carries is not there either.
  EBADNAME: "nxdomain",
  ENODATA: "nodata",
  ETIMEOUT: "timeout",
  ECANCELLED: "timeout",
};

/**
 * Asks the given name servers, else those of the system: one after the other until one can tell, so that it is known
 * whose answer it was. Nothing is remembered between questions.
 */
export function createAskDns(servers: readonly { host: string; port: number }[] = []): AskDns {
  const given = servers.map(({ host, port }) =>
    host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
  );
  return async <T extends DnsType>(name: string, type: T, signal?: AbortSignal) => {
    let answer: DnsAnswer<T> = { name, type, resolver: "none", kind: "servfail" };
    const known = given.length > 0 ? given : new Resolver().getServers();
    for (const server of known.slice(0, serversMax)) {
      answer = await askOne(server, name, type, signal);
      if ((answer.kind !== "servfail" && answer.kind !== "timeout") || signal?.aborted) break;
    }
    return answer;
  };
}

async function askOne<T extends DnsType>(
  server: string,
  name: string,
  type: T,
  signal: AbortSignal | undefined,
): Promise<DnsAnswer<T>> {
  const asked = { name, type, resolver: /\]:|^[^:]+:/.test(server) ? server : `${server}:53` };
  if (signal?.aborted) return { ...asked, kind: "timeout" };
  const resolver = new Resolver({ timeout: patienceMs, tries });
  const cancel = () => resolver.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    resolver.setServers([server]);
    const records = await QUESTIONS[type](resolver, name);
    return { ...asked, kind: "answer", records };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { ...asked, kind: KIND_OF_CODE[code] ?? "servfail" };
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

const QUESTIONS: { [T in DnsType]: (resolver: Resolver, name: string) => Promise<RecordOf[T][]> } = {
  TXT: (resolver, name) => resolver.resolveTxt(name),
  MX: (resolver, name) => resolver.resolveMx(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
};
