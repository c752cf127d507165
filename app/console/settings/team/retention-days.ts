/** Retention in days, of message content and of whole message records. Null: forever. */
export type Retention = { bodiesDays: number | null; emailsDays: number | null };

const COMMON_DAYS = [null, 7, 14, 30, 60, 90, 180, 365, 730] as const;

/** The options, including the current value. */
export const optionsWith = (days: number | null): (number | null)[] =>
  [...new Set([...COMMON_DAYS, days])].sort(
    (one, other) => (one ?? Number.POSITIVE_INFINITY) - (other ?? Number.POSITIVE_INFINITY),
  );

export function formatDays(days: number | null): string {
  if (days === null) return "Forever";
  if (days % 365 === 0) return days === 365 ? "1 year" : `${days / 365} years`;
  return days === 1 ? "1 day" : `${days} days`;
}
