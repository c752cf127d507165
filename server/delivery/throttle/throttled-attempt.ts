import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import type { DialogueSlot, Throttles } from "./destination-throttles";

/**
 * Makes one attempt for claims of one destination when its throttle allows another dialogue. If that takes too long, the
 * claims are requeued and there are no results. With `null` the attempt runs immediately: a shared relay is limited only
 * by the number of concurrent dialogues.
 */
export type RunThrottled = (
  destination: string | null,
  claims: readonly Claim[],
  attempt: (slot: DialogueSlot) => Promise<DeliveryResult[]>,
) => Promise<DeliveryResult[]>;

const unthrottled: DialogueSlot = { startDialogue() {}, release() {} };

export function createThrottledAttempt(
  throttles: Throttles,
  requeue: (claims: readonly Claim[], waitMs: number) => Promise<void>,
  /** Postpones the team's other deliveries for that destination. */
  postpone: (queue: { teamId: string; destination: string }, requeued: number) => Promise<void>,
): RunThrottled {
  return async (destination, claims, attempt) => {
    if (destination === null) return attempt(unthrottled);
    const slot = await throttles.acquire(destination);
    if ("waitMs" in slot) {
      await requeue(claims, slot.waitMs);
      const [first] = claims;
      if (first?.domain === destination) await postpone({ teamId: first.teamId, destination }, claims.length);
      return [];
    }
    try {
      return await attempt(slot);
    } finally {
      slot.release(null);
    }
  };
}
