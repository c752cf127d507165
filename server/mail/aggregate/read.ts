import type { Reader } from "#server/platform/threads";
import { decodeBytes, listParts, parseMessage } from "../bounce/mime";
import { parseDmarcReport } from "./dmarc";
import { expandFile, newBudget } from "./expand";
import { type AggregateReport, type Refusal, Refused } from "./report";
import { parseTlsReport } from "./tls";

/** What a message contains: its reports, and why others of its files are refused. */
export type Aggregates = { reports: AggregateReport[]; refused: Refusal[] };

/**
 * Reads the aggregate reports in a message: parts that are XML, JSON, gzip or zip by their content. Never
 * throws; takes linear time, within limits of files, expanded bytes, depth and records.
 */
export function readAggregates(bytes: Uint8Array): Aggregates {
  const found: Aggregates = { reports: [], refused: [] };
  const budget = newBudget();
  for (const part of listParts(parseMessage(bytes))) {
    if (part.parts.length > 0 || part.type === "text/html") continue;
    try {
      for (const text of expandFile(decodeBytes(part), budget)) {
        const report = text.startsWith("<") ? parseDmarcReport(text) : parseTlsReport(text);
        if (report) found.reports.push(report);
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      found.refused.push(error.why);
    }
  }
  return found;
}

/** Always in a thread: a few bytes can expand to many. */
export const READ_AGGREGATES: Reader<Uint8Array, Aggregates> = {
  name: "readAggregates",
  read: readAggregates,
  isShort: () => false,
  bytesOf: (bytes) => bytes,
};
