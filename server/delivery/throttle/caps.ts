import type { WorkerDeps } from "#server/deps";
import type { CapScope } from "#server/services/caps/today";
import type { StoredMessage } from "../attempt/stored-messages";
import type { Claim } from "../queue/claims";
import { coalesce } from "../queue/coalesce";
import type { MoveBacklog } from "./backlog-mover";
import { type CapDelay, handOverWithinCaps, postponeToNextDay } from "./daily-caps";

/** Rows of each priority that one statement reads. A small number makes other deliveries claimable soon. */
export const moveBatch = 5_000;
/** Only one batch can update a counter at a time, so batches are large. */
const handOverMax = 500;

/** Commits the hand-over of claims whose domain or team has a daily cap, counts them and requeues those over the cap. */
export type HandOverWithinCaps = (claims: Claim[], stored: StoredMessage) => Promise<Claim[]>;

/**
 * Hands over claims within the daily caps. When a cap is reached, the rest of the domain's or team's queue is postponed to
 * the next day. It then blocks no other email and is not claimed only to be released.
 */
export function createHandOverWithinCaps(
  { hot }: Pick<WorkerDeps, "hot">,
  requeue: (claims: Claim[], delayOf: (claim: Claim) => CapDelay) => Promise<void>,
  moveBacklog: MoveBacklog,
): HandOverWithinCaps {
  const batch = coalesce<
    Claim & { senderDomain: string; offersUnsubscribe: boolean },
    true | CapDelay | null
  >(handOverMax, async (claims) => {
    const { marked, delayed } = await handOverWithinCaps(hot, claims);
    return ({ id }) => marked.has(id) || (delayed.get(id) ?? null);
  });

  return async (claims, { teamId, senderDomain, listUnsubscribe }) => {
    const verdicts = await batch(
      claims.map((claim) => ({ ...claim, senderDomain, offersUnsubscribe: listUnsubscribe })),
    );
    const waiting = new Map<Claim, CapDelay>();
    for (const [index, claim] of claims.entries()) {
      const verdict = verdicts[index];
      if (verdict && verdict !== true) waiting.set(claim, verdict);
    }
    const [first] = waiting.values();
    if (first) {
      await requeue([...waiting.keys()], (claim) => waiting.get(claim) ?? first);
      const scope: CapScope = { teamId, domain: first.rule === "team_daily_cap" ? "" : senderDomain };
      await moveBacklog(`cap ${teamId} ${scope.domain}`, waiting.size, () =>
        postponeToNextDay(hot, scope, first.rule, moveBatch),
      );
    }
    return claims.filter((_, index) => verdicts[index] === true);
  };
}
