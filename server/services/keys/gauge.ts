import type { OwnLimits } from "#db/schema/api-keys";
import { LIMIT_PER_MINUTE, type Limits, type Tier } from "#server/platform/limits/limits";

const TIERS = Object.keys(LIMIT_PER_MINUTE) as Tier[];

/** The state of a key's rate limit for one class of calls. */
export type Gauge = {
  tier: Tier;
  /** Calls per minute: the key's own limit or the default. */
  limit: number;
  isOwn: boolean;
  /** Calls that would be accepted now. */
  remaining: number;
  /** The end of the current clock minute, in milliseconds since the epoch. */
  resetAtMs: number;
};

/**
 * Reads a key's rate limits without counting a call: the values that the headers of the next call would have,
 * before that call. One store read per class.
 */
export async function readGauges(
  limits: Pick<Limits, "peek">,
  key: { id: string; limits: OwnLimits },
): Promise<Gauge[]> {
  return Promise.all(
    TIERS.map(async (tier) => {
      const own = key.limits[tier];
      const { limit, remaining, resetAtMs } = await limits.peek(key.id, tier, own ?? LIMIT_PER_MINUTE[tier]);
      return { tier, limit, isOwn: own !== undefined, remaining, resetAtMs };
    }),
  );
}
