import { lookup, Resolver } from "node:dns/promises";

export type NameServer = { host: string; port: number };

/** The form that Node's resolver reads. */
export const formatNameServer = ({ host, port }: NameServer): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/**
 * Resolves all addresses of a name, IPv4 first. `isInternal` is true if only addresses of allowed networks
 * are accepted; the hosts file and search domains of the machine then apply, too. Rejects if the name has no
 * address or the lookup fails.
 */
export type ResolveName = (name: string, isInternal: boolean) => Promise<string[]>;

const timeoutMs = 4_000;
const tries = 2;

/**
 * Resolves with the given name servers, else with those of the system. It uses c-ares over the network: the
 * system's getaddrinfo blocks one of few threads for as long as a hostile name server delays its response.
 * getaddrinfo is used only for internal names, which depend on the hosts file and search domains.
 */
export function createResolveName(servers: readonly NameServer[]): ResolveName {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  const hasServers = servers.length > 0;
  if (hasServers) resolver.setServers(servers.map(formatNameServer));
  return async (name, isInternal) => {
    const bare = name.replace(/\.$/, "");
    if (bare === "localhost" || bare.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(bare), resolver.resolve6(bare)]);
    const found = [v4, v6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (found.length > 0) return found;
    if (isInternal && !hasServers) {
      const known = await lookup(bare, { all: true });
      return known.map(({ address }) => address);
    }
    throw v4.status === "rejected" ? v4.reason : new Error(`${bare} has no address`);
  };
}
