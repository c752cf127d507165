/**
 * The lists of the console whose filters can be saved, each with the parameters of its URL. `day` is a range
 * that begins at midnight in the time zone of the browser: `today` or `yesterday`.
 */
export const SAVED_LISTS = {
  emails: [
    "q",
    "status",
    "key",
    "domain",
    "within",
    "since",
    "until",
    "recipient",
    "tag",
    "engagement",
    "subject",
    "day",
  ],
  suppressions: ["search", "origin"],
  changes: ["actor", "action", "within"],
  requests: ["key", "email", "method", "status"],
} as const;

export type SavedList = keyof typeof SAVED_LISTS;
export const SAVED_LIST_NAMES = Object.keys(SAVED_LISTS) as SavedList[];

/** The saved filters of one member for one list. */
export const savedFiltersMax = 20;
export const savedNameCharsMax = 60;
