import type { OwnLimits } from "#db/schema/api-keys";
import { LIMIT_PER_MINUTE, type Limits, type Tier } from "#server/limits/limits";

const TIERS = Object.keys(LIMIT_PER_MINUTE) as Tier[];

/** How much of a key's window is used up, for one class of calls. */
export type Gauge = {
  tier: Tier;
  /** Calls a minute, the key's own or the usual number. */
  limit: number;
  isOwn: boolean;
  /** Calls that would pass at this moment. */
  remaining: number;
  /** The end of the running clock minute, in milliseconds since the epoch. */
  resetAtMs: number;
};

/**
 * The windows of a key as the limiter judges them now, without counting anything: what the next call's headers would say,
 * before that call itself. One look per class.
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
