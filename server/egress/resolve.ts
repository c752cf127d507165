import { lookup, Resolver } from "node:dns/promises";

export type NameServer = { host: string; port: number };

/**
 * Finds all addresses of a name, IPv4 first. `isInside` says that only addresses opened by the operator will do, so that
 * what the machine itself knows about the name counts too. Rejects where it has none or nobody could tell.
 */
export type ResolveName = (name: string, isInside: boolean) => Promise<string[]>;

const patienceMs = 4_000;
const tries = 2;

/**
 * Asks the given name servers, else those of the system. They are asked over the network by ourselves: the system's own
 * look-up occupies one of few threads for as long as a hostile name server likes. It serves only inside, where the hosts
 * file and search domains are what names live by.
 */
export function createResolveName(servers: readonly NameServer[]): ResolveName {
  const resolver = new Resolver({ timeout: patienceMs, tries });
  const isGiven = servers.length > 0;
  if (isGiven)
    resolver.setServers(
      servers.map(({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`)),
    );
  return async (name, isInside) => {
    const bare = name.replace(/\.$/, "");
    if (bare === "localhost" || bare.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(bare), resolver.resolve6(bare)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    if (isInside && !isGiven) {
      const known = await lookup(bare, { all: true });
      return known.map(({ address }) => address);
    }
    throw v4.status === "rejected" ? v4.reason : new Error(`${bare} has no address`);
  };
}
