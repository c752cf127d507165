import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { Outcome } from "#server/mail/outcome";
import { createBatches, upTo } from "#server/platform/batches";
import type { StoredMessage } from "../attempt/stored-messages";
import { type Claim, markHandedOver } from "../queue/claims";
import type { Requeue } from "../queue/requeue";
import type { Route } from "../routing/routes";
import { type CapDelay, handOverWithinCaps, postponeToNextDay } from "./daily-caps";
import { createDestinationThrottles, type DialogueSlot } from "./destination-throttles";
import { createDialogueSlots } from "./dialogue-slots";
import { createPauseCheck } from "./pauses";
import { createSharedDestinations, type DestinationDelay } from "./shared-destinations";

/** Maximum concurrent dialogues with one destination. */
const slotsPerDestination = (dialoguesMax: number): number => Math.max(1, Math.floor(dialoguesMax / 2));
/** Messages that are prepared ahead keep the dialogues busy while a hand-over waits for its batch. */
const handOverMax = 500;
const handOverBatching = { countNext: upTo(handOverMax), itemsMin: 20, gatherMsMax: 4 };
/** Rows of each priority that one statement reads. A small number makes other deliveries claimable soon. */
const moveBatch = 5_000;

/** An attempt that may run now. */
export type Permit = {
  /**
   * Resolves when the dialogue may start: null, or why it must not, because sending was paused in the
   * meantime.
   */
  startDialogue(): Promise<Requeue | null>;
  /** Ends the permit, with the outcomes of the dialogue or null without one. Only the first call counts. */
  end(outcomes: readonly Outcome[] | null): void;
};

/**
 * Everything that delays a delivery that is due and has a route:
 *
 * 0. A pause of the installation, the team or the sender's domain (`pauses.ts`), checked first and again when
 *    the dialogue may start. Rules `installation_paused`, `team_paused`, `team_deletion` and `domain_paused`.
 * 1. Its destination (`destination-throttles.ts`): concurrency, rate and pauses, learned from replies, below
 *    the operator's limits. A destination is a provider in direct delivery, whose limits all workers share
 *    (`shared-destinations.ts`), or a team's relays. Rule `destination_throttled`.
 * 2. The concurrent dialogues of this worker (`dialogue-slots.ts`), in which the teams take turns. A short
 *    wait in memory, without a rule.
 * 3. All relays of the route are paused (`routing/routes.ts`). Rule `relay_paused`.
 * 4. The daily caps of sender domain and team (`daily-caps.ts`), at the hand-over. Rules `daily_cap`,
 *    `warm_up` and `team_daily_cap`.
 */
export type Throttle = ReturnType<typeof createThrottle>;

export function createThrottle(
  { hot, log, transport }: Pick<WorkerDeps, "hot" | "log" | "transport">,
  {
    dialoguesMax,
    workerId,
    onReleased,
  }: { dialoguesMax: number; workerId: string; onReleased: (() => void) | undefined },
) {
  const concurrencyMax = slotsPerDestination(dialoguesMax);
  const relays = createDestinationThrottles({ concurrencyMax, nowMs: () => performance.now() });
  const destinations = createSharedDestinations(
    { hot, log, transport },
    { concurrencyMax, workerId, moveBatch, ...(onReleased && { onReleased }) },
  );
  const dialogues = createDialogueSlots(dialoguesMax);
  const findPause = createPauseCheck({ hot, log }, moveBatch);

  type Requested = Claim & { senderDomain: string; offersUnsubscribe: boolean; listName: string | null };
  const handOverUncapped = createBatches<Requested, boolean | CapDelay>(async (claims) => {
    const started = await markHandedOver(hot, claims);
    return ({ id }) => started.has(id);
  }, handOverBatching);
  // Only one batch can update a counter at a time, so batches are large.
  const handOverCapped = createBatches<Requested, boolean | CapDelay>(
    async (claims) => {
      const { started, delayed } = await handOverWithinCaps(hot, claims);
      return ({ id }) => delayed.get(id) ?? started.has(id);
    },
    { countNext: upTo(handOverMax) },
  );

  const acquireRoute = async ({ throttleKey }: Route): Promise<DialogueSlot | DestinationDelay> =>
    throttleKey === null ? unthrottled : relays.acquire(throttleKey);

  return {
    /** Check 0: why the email must wait; null if it may be sent. */
    findPause,

    /** Checks 1 to 3: run now, or wait in the queue. */
    async admit(claims: readonly Claim[], email: StoredMessage, route: Route): Promise<Permit | Requeue> {
      const [first] = claims;
      const slot =
        route.isByDestination && first
          ? await destinations.acquire(first.domain, first.teamId)
          : await acquireRoute(route);
      if ("waitMs" in slot) {
        const { waitMs, behind } = slot;
        if (!behind) return { rule: "destination_throttled", waitMs };
        const { destination, move } = behind;
        const name = `destination ${email.teamId} ${destination}`;
        return { rule: "destination_throttled", waitMs, destination, backlog: { name, move } };
      }
      const dialogue = await dialogues.reserve({
        teamId: email.teamId,
        // A large body is read only for its own dialogue, not with the batch.
        isHeavy: !email.hasBody,
        canMoveAside: slot !== unthrottled,
      });
      const end = (outcomes: readonly Outcome[] | null) => {
        slot.release(outcomes);
        dialogue.end();
      };
      const pausedMs = route.waitMs();
      if (pausedMs !== null) {
        end(null);
        return { rule: "relay_paused", waitMs: pausedMs };
      }
      return {
        async startDialogue() {
          await dialogue.start();
          const pause = await findPause(email);
          if (pause === null) slot.startDialogue();
          return pause;
        },
        end,
      };
    },

    /**
     * Check 4, and commits that the dialogues are about to start. The caller owns the leases. Returns the
     * claims whose dialogue may start, and those that must wait. Claims in neither lost their lease or were
     * suppressed.
     */
    async handOver(claims: readonly Claim[], email: StoredMessage) {
      const { teamId, senderDomain, listUnsubscribe, listName, isCapped } = email;
      const verdicts = await (isCapped ? handOverCapped : handOverUncapped)(
        claims.map((claim) => ({ ...claim, senderDomain, offersUnsubscribe: listUnsubscribe, listName })),
      );
      const delayed = new Map<Claim, Requeue>();
      for (const [index, claim] of claims.entries()) {
        const verdict = verdicts[index];
        if (typeof verdict !== "object") continue;
        const { rule } = verdict;
        const scope = { teamId, domain: rule === "team_daily_cap" ? "" : senderDomain };
        const move = () => postponeToNextDay(hot, scope, rule, moveBatch);
        delayed.set(claim, { ...verdict, backlog: { name: `cap ${teamId} ${scope.domain}`, move } });
      }
      return { started: claims.filter((_, index) => verdicts[index] === true), delayed };
    },

    close: destinations.close,
  };
}

/** A relay that all teams share is limited only by the number of concurrent dialogues. */
const unthrottled: DialogueSlot = { startDialogue() {}, release() {} };
