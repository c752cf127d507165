import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import type { Paces, Place } from "./paces";

/**
 * Makes one attempt at a message for claims of one destination as soon as that is given another dialogue. Where that is
 * not soon the claims are given back, to wait where they are in nobody's way, and there are no results.
 */
export type AtPace = (
  claims: readonly Claim[],
  attempt: (place: Place) => Promise<DeliveryResult[]>,
) => Promise<DeliveryResult[]>;

/** A relay is one destination for all, and its pace is the number of dialogues that it is given. */
export const withoutPace: AtPace = (_claims, attempt) => attempt({ talk() {}, leave() {} });

export function createAtPace(
  paces: Paces,
  giveBack: (claims: readonly Claim[], waitMs: number) => Promise<void>,
): AtPace {
  return async (claims, attempt) => {
    const place = await paces.enter(claims[0]?.domain ?? "");
    if ("waitMs" in place) {
      await giveBack(claims, place.waitMs);
      return [];
    }
    try {
      return await attempt(place);
    } finally {
      place.leave(null);
    }
  };
}
