import type { Answer } from "dns-packet";
import { type DnsReply, type DnsTestServer, startDnsTestServer } from "./dns-test-server";

type ZoneType = "TXT" | "MX" | "CNAME" | "A" | "AAAA";
/** A TXT record is one string, or several as in DNS; an MX record is its preference and host. */
type ZoneData = string | string[] | { preference: number; exchange: string };

/**
 * The records that a domain's owner published, as a DNS test server returns them. Names are complete and in
 * lower case.
 */
export type Zone = {
  /** Replaces the records of a name and type. */
  set(name: string, type: ZoneType, ...records: ZoneData[]): void;
  remove(name: string, type: ZoneType): void;
  /** Responds to every query for a name with this reply instead of its records; null ends that. */
  fail(name: string, reply: DnsReply | null): void;
  clear(): void;
};

/** The records that Backstamp requires, as `GET /api/domains/{id}` lists them. */
export type Listed = { host: string; type: ZoneType; value: string; priority?: number };

/** DNS stores text in strings of at most 255 bytes. */
export const inStrings = (text: string): string[] => text.match(/.{1,255}/gs) ?? [""];

/** Publishes the listed records, as the domain's owner should. */
export function publish(zone: Zone, records: readonly Listed[]): void {
  for (const { host, type, value, priority } of records)
    if (type === "MX") zone.set(host, type, { preference: priority ?? 0, exchange: value });
    else zone.set(host, type, type === "TXT" ? inStrings(value) : value);
}

/** Starts a DNS test server with a zone that the test fills. */
export async function startZone(): Promise<{ zone: Zone; peer: DnsTestServer }> {
  const records = new Map<string, ZoneData[]>();
  const faults = new Map<string, DnsReply>();
  const isKnown = (name: string) =>
    [...records.keys()].some((key) => key.startsWith(`${name} `) || key.includes(`.${name} `));
  const peer = await startDnsTestServer(({ name, type }) => {
    const fault = faults.get(name);
    if (fault) return fault;
    const found = records.get(`${name} ${type}`) ?? [];
    if (found.length === 0 && !isKnown(name)) return null;
    return {
      answers: found.map((data): Answer => {
        if (type === "TXT") return { name, type, ttl: 0, data: data as string | string[] };
        if (type === "MX")
          return { name, type, ttl: 0, data: data as { preference: number; exchange: string } };
        return { name, type: type as "A", ttl: 0, data: data as string };
      }),
    };
  });
  const zone: Zone = {
    set: (name, type, ...data) => void records.set(`${name} ${type}`, data),
    remove: (name, type) => void records.delete(`${name} ${type}`),
    fail: (name, reply) => void (reply ? faults.set(name, reply) : faults.delete(name)),
    clear: () => {
      records.clear();
      faults.clear();
    },
  };
  return { zone, peer };
}
