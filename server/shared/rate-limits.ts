/**
 * Default limits of an API key, in requests per minute by request class. All endpoints without their own
 * class are `other`.
 */
export const LIMIT_PER_MINUTE = {
  "POST /api/emails": 100,
  "GET /api/emails": 300,
  "POST /api/templates": 60,
  other: 60,
} as const;

/** The request classes with their own rate limit. */
export type Tier = keyof typeof LIMIT_PER_MINUTE;
export const TIERS = Object.keys(LIMIT_PER_MINUTE) as [Tier, ...Tier[]];
