import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import type { Paces, Place } from "./paces";

/**
 * Makes one attempt at a message for claims of one destination as soon as that is given another dialogue. Where that is
 * not soon the claims are given back, to wait where they are in nobody's way, and there are no results. Without a
 * destination it is made at once: a relay that carries everybody's mail goes at the pace of the dialogues it is given.
 */
export type AtPace = (
  destination: string | null,
  claims: readonly Claim[],
  attempt: (place: Place) => Promise<DeliveryResult[]>,
) => Promise<DeliveryResult[]>;

const atOnce: Place = { talk() {}, leave() {} };

export function createAtPace(
  paces: Paces,
  giveBack: (claims: readonly Claim[], waitMs: number) => Promise<void>,
  /** Puts what else the team has waiting for that destination in line. */
  setAside: (queue: { teamId: string; destination: string }, givenBack: number) => Promise<void>,
): AtPace {
  return async (destination, claims, attempt) => {
    if (destination === null) return attempt(atOnce);
    const place = await paces.enter(destination);
    if ("waitMs" in place) {
      await giveBack(claims, place.waitMs);
      const [first] = claims;
      if (first?.domain === destination) await setAside({ teamId: first.teamId, destination }, claims.length);
      return [];
    }
    try {
      return await attempt(place);
    } finally {
      place.leave(null);
    }
  };
}
