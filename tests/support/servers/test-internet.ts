import type { Answer } from "dns-packet";
import { createQueryDns } from "#server/mail/dns/dns";
import { createDirect, type DirectDependencies, type DirectOptions } from "#server/mail/transport/direct";
import type { Transport } from "#server/mail/transport/transport";
import { type DnsTestServer, startDnsTestServer } from "./dns-test-server";
import { openOnFreePort } from "./free-port";
import { type SmtpScript, type SmtpTestServer, startSmtpTestServer } from "./smtp-test-server";

/** The DNS records of a name. An absent name does not exist; `fault` is the error of a query. */
export type ZoneEntry = {
  mx?: readonly [preference: number, exchange: string][];
  a?: readonly string[];
  aaaa?: readonly string[];
  txt?: readonly string[];
  /** Another name of this zone, which answers for it. */
  cname?: string;
  fault?: "SERVFAIL";
};
export type Zone = Record<string, ZoneEntry>;

/**
 * A simulated Internet on loopback: names, and mail servers at addresses of 127.0.0.0/8 that share one port.
 */
export type TestInternet = {
  dns: DnsTestServer;
  /** The zone, which a test may change. */
  zone: Zone;
  port: number;
  /** Starts a mail server at an address. */
  serve(
    address: string,
    script?: SmtpScript,
    options?: Parameters<typeof startSmtpTestServer>[1],
  ): Promise<SmtpTestServer>;
  transport(means?: Partial<DirectDependencies>, options?: DirectOptions): Transport;
  close(): Promise<void>;
};

/** Far above the time of a query on a busy machine. */
const dnsTimeoutMs = 60_000;

export async function startTestInternet(zone: Zone): Promise<TestInternet> {
  const dns = await startDnsTestServer(({ name, type }) => {
    const entry = zone[name];
    if (!entry) return null;
    if (entry.fault) return { rcode: entry.fault };
    if (!entry.cname) return { answers: answersOf(name, type, entry) };
    const alias: Answer = { name, type: "CNAME", ttl: 0, data: entry.cname };
    return { answers: [alias, ...answersOf(entry.cname, type, zone[entry.cname] ?? {})] };
  });
  // Kept open until the end, so that no other simulated Internet uses the port.
  const portHolder = await openOnFreePort((port) => startSmtpTestServer({}, { port }));
  const peers: SmtpTestServer[] = [portHolder];
  const transports: Transport[] = [];
  return {
    dns,
    zone,
    port: portHolder.port,
    async serve(address, script, options) {
      const peer = await startSmtpTestServer(script, { ...options, host: address, port: portHolder.port });
      peers.push(peer);
      return peer;
    },
    transport(means, options) {
      const made = createDirect(
        {
          dns: createQueryDns([dns], dnsTimeoutMs),
          canConnectTo: () => true,
          findStsPolicy: async () => null,
          random: Math.random,
          clock: () => new Date(),
          ...means,
        },
        { name: "sender.test", port: portHolder.port, ...options },
      );
      transports.push(made);
      return made;
    },
    async close() {
      await Promise.all(transports.map((transport) => transport.close()));
      await Promise.all([dns.close(), ...peers.map((peer) => peer.close())]);
    },
  };
}

function answersOf(name: string, type: string, entry: ZoneEntry): Answer[] {
  const ttl = 0;
  switch (type) {
    case "MX":
      return (entry.mx ?? []).map(([preference, exchange]) => ({
        name,
        type: "MX",
        ttl,
        data: { preference, exchange },
      }));
    case "A":
      return (entry.a ?? []).map((data) => ({ name, type: "A", ttl, data }));
    case "AAAA":
      return (entry.aaaa ?? []).map((data) => ({ name, type: "AAAA", ttl, data }));
    case "TXT":
      return (entry.txt ?? []).map((data) => ({ name, type: "TXT", ttl, data }));
    default:
      return [];
  }
}
