import { performance } from "node:perf_hooks";
import { type CapScope, type HeldOver, handOverWithinCaps, holdOver } from "#db/caps";
import type { Claim } from "#db/queue";
import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/log";
import { coalesce } from "./coalesce";
import type { StoredMessage } from "./messages";

/** Rows of each priority that are moved at once where a day is used up: few, for the first others to have their way soon. */
const moveAtOnce = 5_000;
/** How often so in a row, and how long until it is begun again for the same queue. */
const movesMax = 20;
const moveAgainMs = 1_000;
/** Nobody else counts while a batch does, so batches are large where several wait. */
const handOverMax = 500;

/** Commits the hand-over of claims whose domain or team has a cap, and counts them. What may not go today is given back. */
export type HandOverWithinCaps = (claims: Claim[], stored: StoredMessage) => Promise<Claim[]>;

/**
 * Hands over within what the day allows. Where it allows no more, the rest of that domain's or team's queue is moved to the
 * next day at once, so that it is neither claimed in vain nor stands before other mail.
 */
export function createHandOverWithinCaps(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  giveBack: (claims: Claim[], why: (claim: Claim) => HeldOver) => Promise<void>,
): HandOverWithinCaps {
  /** Of each queue that is used up; infinite while one is under way. */
  const nextMoveAtMs = new Map<string, number>();

  const batch = coalesce<
    Claim & { senderDomain: string; offersUnsubscribe: boolean },
    true | HeldOver | null
  >(handOverMax, async (claims) => {
    const { marked, heldOver } = await handOverWithinCaps(hot, claims);
    return ({ id }) => marked.has(id) || (heldOver.get(id) ?? null);
  });

  async function clearTheWay(scope: CapScope, rule: HeldOver["rule"]): Promise<void> {
    const name = `${scope.teamId} ${scope.domain}`;
    if ((nextMoveAtMs.get(name) ?? 0) > performance.now()) return;
    nextMoveAtMs.set(name, Number.POSITIVE_INFINITY);
    try {
      for (let n = 0; n < movesMax && (await holdOver(hot, scope, rule, moveAtOnce)) > 0; n++);
    } catch (error) {
      log.warn("caps.hold_over_failed", { teamId: scope.teamId, ...errorFacts(error) });
    } finally {
      nextMoveAtMs.set(name, performance.now() + moveAgainMs);
    }
  }

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
      await clearTheWay({ teamId, domain: first.rule === "team_daily_cap" ? "" : senderDomain }, first.rule);
    }
    return claims.filter((_, index) => verdicts[index] === true);
  };
}
