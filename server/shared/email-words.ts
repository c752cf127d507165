/** The queue in one sentence for when no email is queued or sending: how many wait for another reason. */
export function describeIdleQueue(
  counts: Readonly<Record<"deferred" | "scheduled" | "unknown", number>>,
  countMax: number,
): string {
  const waiting = (["deferred", "scheduled", "unknown"] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => `${formatCount(counts[status], countMax)} ${status}`);
  return waiting.length === 0 ? "Queue is empty." : `No email is queued or sending; ${waiting.join(", ")}.`;
}

/** A count that stops at `countMax`; above it, the number itself is not known. */
export const formatCount = (count: number, countMax: number): string =>
  count > countMax ? `over ${countMax.toLocaleString("en")}` : count.toLocaleString("en");
