import { inQuotes } from "./text-strings";

/** One record with its full name, and a line that says what it is for. */
export type ZoneRecord = {
  host: string;
  type: "TXT" | "MX" | "CNAME";
  value: string;
  priority?: number;
  purpose: string;
  /** Written as a comment: there for whoever reads, not for a name server. */
  isCommented?: boolean;
};

const ttlSeconds = 3600;

/**
 * Records in the master file format of RFC 1035 section 5, as BIND reads it and most panels import it. Names are full, so
 * that it says the same in whichever zone it is included.
 */
export function formatZoneFile(title: string, records: readonly ZoneRecord[]): string {
  const lines = records.flatMap((record) => [
    `; ${record.purpose}`,
    `${record.isCommented ? "; " : ""}${record.host}. ${ttlSeconds} IN ${record.type} ${dataOf(record)}`,
    "",
  ]);
  return [`; ${title}`, "", ...lines].join("\n");
}

function dataOf({ type, value, priority }: ZoneRecord): string {
  if (type === "TXT") return inQuotes(value);
  return type === "MX" ? `${priority ?? 0} ${value}.` : `${value}.`;
}
