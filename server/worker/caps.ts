import { type CapScope, type HeldOver, handOverWithinCaps, holdOver } from "#db/caps";
import type { Claim } from "#db/queue";
import type { WorkerDeps } from "#server/deps";
import type { ClearTheWay } from "./clear-the-way";
import { coalesce } from "./coalesce";
import type { StoredMessage } from "./messages";

/** Rows of each priority that are looked at by one statement: few, for the first others to have their way soon. */
export const moveAtOnce = 5_000;
/** Nobody else counts while a batch does, so batches are large where several wait. */
const handOverMax = 500;

/** Commits the hand-over of claims whose domain or team has a cap, and counts them. What may not go today is given back. */
export type HandOverWithinCaps = (claims: Claim[], stored: StoredMessage) => Promise<Claim[]>;

/**
 * Hands over within what the day allows. Where it allows no more, the rest of that domain's or team's queue is moved to the
 * next day at once, so that it is neither claimed in vain nor stands before other mail.
 */
export function createHandOverWithinCaps(
  { hot }: Pick<WorkerDeps, "hot">,
  giveBack: (claims: Claim[], why: (claim: Claim) => HeldOver) => Promise<void>,
  clearTheWay: ClearTheWay,
): HandOverWithinCaps {
  const batch = coalesce<
    Claim & { senderDomain: string; offersUnsubscribe: boolean },
    true | HeldOver | null
  >(handOverMax, async (claims) => {
    const { marked, heldOver } = await handOverWithinCaps(hot, claims);
    return ({ id }) => marked.has(id) || (heldOver.get(id) ?? null);
  });

  return async (claims, { teamId, senderDomain, listUnsubscribe }) => {
    const verdicts = await batch(
      claims.map((claim) => ({ ...claim, senderDomain, offersUnsubscribe: listUnsubscribe })),
    );
    const waiting = new Map<Claim, HeldOver>();
    for (const [index, claim] of claims.entries()) {
      const verdict = verdicts[index];
      if (verdict && verdict !== true) waiting.set(claim, verdict);
    }
    const [first] = waiting.values();
    if (first) {
      await giveBack([...waiting.keys()], (claim) => waiting.get(claim) ?? first);
      const scope: CapScope = { teamId, domain: first.rule === "team_daily_cap" ? "" : senderDomain };
      await clearTheWay(`cap ${teamId} ${scope.domain}`, waiting.size, () =>
        holdOver(hot, scope, first.rule, moveAtOnce),
      );
    }
    return claims.filter((_, index) => verdicts[index] === true);
  };
}
