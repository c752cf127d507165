import { formatQuotedStrings } from "./text-strings";

/** One record with its full name and a one-line description of its purpose. */
export type ZoneRecord = {
  host: string;
  type: "TXT" | "MX" | "CNAME";
  value: string;
  priority?: number;
  purpose: string;
  /** Formats the record as a comment, which name servers ignore. */
  isCommented?: boolean;
};

const ttlSeconds = 3600;

/**
 * Formats records as a master file (RFC 1035 section 5), which BIND reads and most DNS panels import. Names
 * are absolute and therefore valid in any zone.
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
  if (type === "TXT") return formatQuotedStrings(value);
  return type === "MX" ? `${priority ?? 0} ${value}.` : `${value}.`;
}
