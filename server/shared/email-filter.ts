import type { Engagement } from "#db/schema/emails";

/** Time ranges that end now, in hours, by their name in the URL. */
export const WITHIN_HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 } as const;
export type Within = keyof typeof WITHIN_HOURS;
export const WITHIN = Object.keys(WITHIN_HOURS) as Within[];

/** What recipients did. A click is also an open. */
export const ENGAGEMENT_NAMES = ["opened", "clicked"] as const satisfies Engagement[];

/** The filters of the console's list of emails: the parameters of its URL, of its calls and of its export. */
export const EMAIL_FILTER_NAMES = [
  "search",
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
] as const;
export type EmailFilterName = (typeof EMAIL_FILTER_NAMES)[number];
