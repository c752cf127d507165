import { isObjection } from "#server/mail/destinations";
import type { Outcome } from "#server/mail/outcome";
import type { Learned, OperatorLimit, ReadDestination } from "#server/services/destinations/states";
import { minuteMs } from "#server/shared/durations";
import {
  concurrencyOf,
  countDialogue,
  createDestination,
  type Destination,
  type DialogueSlotState,
  expectedMs,
  hasCapacity,
  isUnreachable,
  latestMs,
  lower,
  measure,
  occupy,
  presentRate,
  raise,
  rateOf,
  scheduleBehind,
  stepMs,
} from "./destination";
import type { BacklogSchedule } from "./postpone-backlog";

/** Longer waits for a slot are requeued, because a wait in memory blocks other deliveries. */
const acquireWaitMs = 2_000;
/** Deliveries made due at once are those that the destination needs for this long. */
const freedMs = 1_000;
const freedMax = 500;
const domainsMax = 1_000;
/** Of a team's relays, which are never started slowly. */
const NEW_RELAYS: Learned = { connections: 2, perMinute: null, accepted: null, objections: 0 };

/** Where only the operator's limit applies, to the recipients of a domain. */
export const NOTHING: Learned = {
  connections: Number.POSITIVE_INFINITY,
  perMinute: null,
  accepted: null,
  objections: 0,
};

/**
 * One of a destination's concurrent dialogues. Call `startDialogue` when the dialogue starts, then `release`
 * with its outcomes, or with null if there was no dialogue. Only the first `release` counts.
 */
export type DialogueSlot = { startDialogue(): void; release(outcomes: readonly Outcome[] | null): void };

/** What one dialogue shows about its destination. */
export type Learning = {
  accepted: number;
  raised: number;
  objection: { reply: Outcome; startedMsAgo: number; perMinute: number } | null;
};

/**
 * Adaptive throttling of destinations: concurrency, dialogues per minute and pauses. A destination is a
 * provider in direct delivery, or a team's relays (`admit.ts`, which also applies all other limits).
 * Successes raise the concurrency. An objection (`isObjection`) halves it, limits the dialogues per minute to
 * half of the present rate, and pauses the destination. A destination that cannot be reached, or whose
 * dialogues are slow, gets one dialogue at a time. `concurrencyMax` and the operator's limits always apply.
 *
 * The limits of relays are those of this process. Those of providers are shared: `onLearned` reports what a
 * dialogue showed, and `update` applies what all workers have learned (`shared-destinations.ts`).
 */
export type DestinationThrottles = ReturnType<typeof createDestinationThrottles>;

export function createDestinationThrottles(options: {
  /** Maximum concurrent dialogues with one destination. */
  concurrencyMax: number;
  /** Monotonic clock. */
  nowMs: () => number;
  /** Maximum destinations in memory, in addition to those in use. */
  destinationsMax?: number;
  onLearned?(name: string, learning: Learning): void;
  /** More deliveries can start than wait here, and the queue may have some for this destination. */
  onCapacity?(name: string, count: number): void;
}) {
  const { concurrencyMax, nowMs, destinationsMax = 10_000 } = options;
  const destinations = new Map<string, Destination>();

  function destinationOf(name: string): Destination {
    const known = destinations.get(name);
    if (known) {
      // Insertion order is the order of last use; eviction starts with the least recently used.
      destinations.delete(name);
      destinations.set(name, known);
      return known;
    }
    const created = createDestination({ ...NEW_RELAYS });
    destinations.set(name, created);
    if (destinations.size > destinationsMax) evictOne();
    return created;
  }

  function evictOne(): void {
    for (const [name, { inProgress, waiting, pausedUntilMs }] of destinations) {
      if (inProgress.size + waiting.length > 0 || pausedUntilMs > nowMs()) continue;
      destinations.delete(name);
      return;
    }
  }

  const canStart = (target: Destination) => hasCapacity(target, nowMs(), concurrencyMax);

  function slotFor(name: string, target: Destination, slot: DialogueSlotState): DialogueSlot {
    return {
      startDialogue() {
        slot.startedAtMs = nowMs();
        countDialogue(target, slot.startedAtMs);
      },
      release(outcomes) {
        if (!target.inProgress.delete(slot)) return;
        if (outcomes && slot.startedAtMs !== null) {
          measure(target, nowMs() - slot.startedAtMs);
          learn(name, target, outcomes, slot.startedAtMs);
        }
        admitWaiting(target);
        offer(name, target);
      },
    };
  }

  function learn(name: string, target: Destination, outcomes: readonly Outcome[], startedAtMs: number): void {
    if (target.learned === NOTHING) return;
    const reply = outcomes.find(isObjection);
    if (reply) {
      const objection = {
        reply,
        startedMsAgo: nowMs() - startedAtMs,
        perMinute: presentRate(target, nowMs()),
      };
      // A dialogue that started before the last reduction gives no information about the reduced limits.
      if (startedAtMs < target.loweredAtMs) return;
      lower(target, nowMs());
      options.onLearned?.(name, { accepted: 0, raised: 0, objection });
    } else if (outcomes.every(isUnreachable)) {
      target.isUnreachable = true;
      target.successes = 0;
    } else if (outcomes.some(({ kind }) => kind === "accepted")) {
      const raised = raise(target, startedAtMs, concurrencyMax);
      options.onLearned?.(name, { accepted: 1, raised, objection: null });
    }
  }

  function admitWaiting(target: Destination): void {
    if (target.pausedUntilMs > nowMs()) for (const waiter of target.waiting.splice(0)) waiter.reject();
    while (target.waiting.length > 0 && canStart(target)) {
      const slot = occupy(target, nowMs());
      target.waiting.shift()?.admit(slot);
    }
    const forRateMs = target.nextDialogueAtMs - nowMs();
    if (target.waiting.length === 0 || forRateMs <= 0 || target.hasTimer) return;
    target.hasTimer = true;
    setTimeout(() => {
      target.hasTimer = false;
      admitWaiting(target);
    }, forRateMs);
  }

  /** Requests deliveries from the queue if those that wait here do not occupy the destination. */
  function offer(name: string, target: Destination): void {
    if (!target.hasBacklog || !canStart(target)) return;
    const concurrency = concurrencyOf(target, concurrencyMax);
    const step = stepMs(target, nowMs(), concurrencyMax);
    const count = Math.min(
      freedMax,
      Math.max(rateOf(target) === null ? concurrency : 1, Math.floor(freedMs / step)),
    );
    if (target.waiting.length * 2 < count) options.onCapacity?.(name, count - target.waiting.length);
  }

  /** Wait of the next requeued delivery. Deliveries return one by one, at the speed of the destination. */
  function spread(target: Destination): number {
    const { waitMs } = scheduleBehind(target, nowMs(), concurrencyMax);
    target.spreadUntilMs = nowMs() + waitMs;
    target.hasBacklog = true;
    return Math.ceil(waitMs);
  }

  return {
    /** A slot, immediately or within 2 s; otherwise the time after which the delivery should be due again. */
    async acquire(name: string): Promise<DialogueSlot | { waitMs: number }> {
      const target = destinationOf(name);
      const atMs = nowMs();
      if (target.waiting.length === 0 && canStart(target)) return slotFor(name, target, occupy(target, atMs));
      if (target.pausedUntilMs > atMs || expectedMs(target, atMs, concurrencyMax) > acquireWaitMs)
        return { waitMs: spread(target) };
      return new Promise((resolve) => {
        const waiter = {
          admit(slot: DialogueSlotState) {
            clearTimeout(timer);
            resolve(slotFor(name, target, slot));
          },
          reject() {
            clearTimeout(timer);
            resolve({ waitMs: spread(target) });
          },
        };
        const timer = setTimeout(() => {
          target.waiting.splice(target.waiting.indexOf(waiter), 1);
          waiter.reject();
        }, acquireWaitMs);
        target.waiting.push(waiter);
        admitWaiting(target);
      });
    },

    /** Remembers the domain of a recipient, and returns all whose email may wait for this destination. */
    addDomain(name: string, domain: string): ReadonlySet<string> {
      const { domains } = destinationOf(name);
      if (domains.size < domainsMax) domains.add(domain);
      return domains;
    },

    /** Postpones more deliveries behind those requeued before. `move` returns the number of deliveries. */
    async postponeBehind(
      name: string,
      move: (schedule: BacklogSchedule) => Promise<number>,
    ): Promise<number> {
      const target = destinationOf(name);
      const schedule = scheduleBehind(target, nowMs(), concurrencyMax);
      const count = await move(schedule);
      target.spreadUntilMs = Math.min(
        target.spreadUntilMs + count * schedule.stepMs,
        latestMs(target, nowMs()),
      );
      return count;
    },

    /** Applies what all workers have learned, the shares of this one, and the operator's limits. */
    update(
      name: string,
      { learned, blockedForMs, workers, limit }: Partial<Omit<ReadDestination, "name">>,
    ): void {
      const target = destinationOf(name);
      if (workers) target.workers = workers;
      if (limit) setLimit(target, limit);
      if (learned) {
        const isLower = target.learned.objections < learned.objections;
        target.learned = learned === NOTHING ? NOTHING : { ...learned };
        // Deliveries may have been postponed by another worker, or before this one started.
        if (learned.perMinute !== null) target.hasBacklog = true;
        if (isLower) target.loweredAtMs = nowMs();
      }
      if (blockedForMs !== undefined) target.pausedUntilMs = nowMs() + blockedForMs;
      if (target.pausedUntilMs > nowMs()) target.hasBacklog = true;
      else if (rateOf(target) === null) target.nextDialogueAtMs = Number.NEGATIVE_INFINITY;
      admitWaiting(target);
      offer(name, target);
    },

    /** Whether deliveries of the queue may wait for it. Those postponed later set it again. */
    setBacklog(name: string, hasBacklog: boolean): void {
      const target = destinationOf(name);
      target.hasBacklog = hasBacklog;
      if (!hasBacklog) target.spreadUntilMs = Number.NEGATIVE_INFINITY;
    },

    /** Whether the operator set a limit for it. */
    isLimited(name: string): boolean {
      const { dialogues = null, perMinute = null } = destinations.get(name)?.limit ?? {};
      return dialogues !== null || perMinute !== null;
    },

    /** The destinations for which deliveries may wait in the queue. */
    listBacklogs: (): string[] =>
      [...destinations].filter(([, { hasBacklog }]) => hasBacklog).map(([name]) => name),

    /** Current limits of a destination; `perMinute` is null without a rate limit. */
    stateOf(name: string) {
      const target = destinations.get(name) ?? destinationOf(name);
      return {
        concurrency: concurrencyOf(target, concurrencyMax),
        perMinute: rateOf(target),
        pausedForMs: Math.max(0, target.pausedUntilMs - nowMs()),
      };
    },
  };

  function setLimit(target: Destination, { dialogues, perMinute }: OperatorLimit): void {
    if (dialogues === target.limit.dialogues && perMinute === target.limit.perMinute) return;
    target.limit = { dialogues, perMinute };
    // Times computed from the old limit are no longer valid.
    const rateNow = rateOf(target);
    target.nextDialogueAtMs = Math.min(
      target.nextDialogueAtMs,
      rateNow === null ? Number.NEGATIVE_INFINITY : nowMs() + minuteMs / rateNow,
    );
    target.spreadUntilMs = Number.NEGATIVE_INFINITY;
  }
}
