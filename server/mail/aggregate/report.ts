import { createHash } from "node:crypto";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { cleanText } from "../outcome";

/** Messages from one source, or TLS sessions, with one result. All of it is only claimed. */
export type ReportRow = {
  /** The domain in From, or of the recipients whose MX host the sessions were with. */
  domain: string;
  /** DMARC: the IP address of the sender. TLS: the MX host. Empty if it is not stated or invalid. */
  source: string;
  /** DMARC: the domain that DKIM or SPF authenticated. TLS: the type of failure. Empty if there is none. */
  detail: string;
  /** The DKIM signatures that were valid. */
  signatures: { domain: string; selector: string }[];
  /** DMARC: the domain in From is authenticated. TLS: the session was encrypted as required. */
  isAligned: boolean;
  count: number;
};

/** An aggregate report of DMARC (RFC 9990, RFC 7489) or of TLS (RFC 8460). */
export type AggregateReport = {
  kind: "dmarc" | "tls";
  reporter: string;
  /** A hash of the id that the reporter chose. */
  hash: string;
  beginsAt: Date;
  endsAt: Date;
  rows: ReportRow[];
};

/** Why a file is not read, or no report. */
export type Refusal =
  | "too_large"
  | "too_many_files"
  | "too_many_records"
  | "too_deep"
  | "doctype"
  | "unreadable";

export class Refused extends Error {
  constructor(readonly why: Refusal) {
    super(why);
  }
}

export const depthMax = 16;
export const recordsMax = 10_000;
const countMax = 1_000_000_000;
const nameCharsMax = 100;

/** A host name in lower case, without the dot at its end; empty if it is none. */
export function toHost(text: string): string {
  const host = text.trim().toLowerCase().replace(/\.$/, "");
  return host.length <= 253 && /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(host) ? host : "";
}

/** An IP address in its shortest form; empty if it is none. */
export const toAddress = (text: string): string =>
  isIP(text.trim()) === 0 ? "" : ipaddr.process(text.trim()).toString();

export const toCount = (text: string | number): number => {
  const count = Math.trunc(Number(text));
  return count >= 0 ? Math.min(count, countMax) : 0;
};

/** The head of a report. `name` is free text, and of an address only the domain is kept. */
export function headOf(given: { name: string; contact: string; id: string; begin: string; end: string }) {
  const hostOf = (text: string) => toHost(text.slice(text.lastIndexOf("@") + 1));
  const name = given.name.includes("@") ? hostOf(given.name) : cleanText(given.name, nameCharsMax);
  const [beginsAt, endsAt] = [toTime(given.begin), toTime(given.end)];
  if (given.id.trim() === "" || !beginsAt || !endsAt || beginsAt > endsAt) throw new Refused("unreadable");
  return {
    reporter: name || hostOf(given.contact) || "unknown",
    hash: createHash("sha256").update(given.id.trim()).digest("hex").slice(0, 32),
    beginsAt,
    endsAt,
  };
}

/** The latest second of a report: year 2100. PostgreSQL has no time for the largest numbers. */
const secondsMax = 4_102_444_800;

/** A time in seconds since the epoch, or in ISO 8601; null if it is neither. */
function toTime(text: string): Date | null {
  const trimmed = text.trim().slice(0, 40);
  const seconds = /^\d+(?:\.\d*)?$/.test(trimmed) ? Number(trimmed) : Date.parse(trimmed) / 1000;
  return seconds > 0 && seconds < secondsMax ? new Date(seconds * 1000) : null;
}
