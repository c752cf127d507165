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

/** Parameters of a list as a saved filter has them: the range of today or yesterday is replaced by `day`. */
export function toSavedFilters(current: Texts): Texts {
  const day = dayOf({ since: current.since ?? null, until: current.until ?? null });
  if (!day) return current;
  const { since: _, until: __, ...others } = current;
  return { ...others, day };
}

/** The parameters of a saved filter, with a day as its present times. */
export function fromSavedFilters({ day, ...others }: Texts): Texts {
  const known = DAYS.find((name) => name === day);
  return known ? { ...others, ...present(dayRange(known)) } : others;
}

type Texts = Record<string, string>;

const present = (range: Range): Texts =>
  Object.fromEntries(Object.entries(range).filter((entry): entry is [string, string] => entry[1] !== null));
