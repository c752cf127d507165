import type { Facts, Log } from "#server/platform/log";

export type RecordedLog = Log & { lines: { event: string; facts: Facts }[] };

/** A log that records its entries. */
export function recordedLog(): RecordedLog {
  const lines: RecordedLog["lines"] = [];
  const keep = (event: string, facts: Facts = {}) => {
    lines.push({ event, facts });
  };
  return { lines, info: keep, warn: keep, error: keep };
}
