export const DAYS = ["today", "yesterday"] as const;
export type Day = (typeof DAYS)[number];

export type Range = { since: string | null; until: string | null };

/** A day of the browser's time zone as a range, which the URL keeps when the day has passed. */
export function dayRange(day: Day): Range {
  const start = new Date();
  start.setHours(0, 0, 0, 0);
  if (day === "today") return { since: start.toISOString(), until: null };
  const until = new Date(start.getTime() - 1).toISOString();
  start.setDate(start.getDate() - 1);
  return { since: start.toISOString(), until };
}

/** The day whose range it is, in the browser's time zone. */
export const dayOf = ({ since, until }: Range): Day | undefined =>
  DAYS.find((day) => {
    const range = dayRange(day);
    return range.since === since && range.until === until;
  });
