/** How many days what mails say, and mails whole, are kept; null: for good. */
export type Kept = { bodiesDays: number | null; emailsDays: number | null };

const USUAL = [null, 7, 14, 30, 60, 90, 180, 365, 730] as const;

/** The choices, among them the one that holds now. */
export const optionsWith = (days: number | null): (number | null)[] =>
  [...new Set([...USUAL, days])].sort(
    (one, other) => (one ?? Number.POSITIVE_INFINITY) - (other ?? Number.POSITIVE_INFINITY),
  );

export const textOf = (days: number | null): string => (days === null ? "" : String(days));
export const daysOf = (text: string): number | null => (text === "" ? null : Number(text));

export function wordsOf(days: number | null): string {
  if (days === null) return "For good";
  if (days % 365 === 0) return days === 365 ? "1 year" : `${days / 365} years`;
  return days === 1 ? "1 day" : `${days} days`;
}
