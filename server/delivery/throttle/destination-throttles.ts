import type { Outcome } from "#server/mail/outcome";
import type { DestinationShare } from "#server/services/destinations/limits";
import { minuteMs } from "#server/shared/durations";
import type { BacklogSchedule } from "./postpone-backlog";

/** Concurrency limit of a destination without history. */
const concurrencyStart = 2;
/** Longer waits for a slot are requeued, because a wait in memory blocks other deliveries. */
const acquireWaitMs = 2_000;
/** No second dialogue starts with a destination while one, or the average, takes longer than this. */
export const slowMs = 5_000;
/** Pause after a throttling reply; each further throttling reply in a row doubles it. */
const pauseMs = { first: 30_000, max: 15 * 60_000 };
/** Requeued deliveries are spread over the time that the destination needs for them, up to `max`. */
const spreadMs = { step: 50, min: 1_000, max: 10 * 60_000 };
/** Dialogues per minute. Above `free` the rate is unlimited. */
const rate = { min: 1, step: 10, free: 1_200 };
/** Weight of the newest dialogue in the moving average. */
const newestWeight = 0.3;

/**
 * One of a destination's concurrent dialogues. Call `startDialogue` when the dialogue starts, then `release`
 * with its outcomes, or with null if there was no dialogue. Only the first `release` counts.
 */
export type DialogueSlot = { startDialogue(): void; release(outcomes: readonly Outcome[] | null): void };

/**
 * Adaptive throttling per destination: concurrency, dialogues per minute and pauses. A destination is a
 * recipient domain in direct delivery, or a team's relays (`admit.ts`, which also applies all other limits).
 * The limits are learned from replies and kept in memory only. Successes raise the concurrency. A 421 or a
 * rate-limit reply (class `rate` of mail/replies) halves it, limits the dialogues per minute to half of the
 * present rate, and pauses the destination. A destination that cannot be reached, or whose dialogues are
 * slow, gets one dialogue at a time. `concurrencyMax` and the operator's limits always apply.
 */
export type DestinationThrottles = ReturnType<typeof createDestinationThrottles>;

type DialogueSlotState = { startedAtMs: number | null };
type Destination = {
  concurrency: number;
  perMinute: number | null;
  share: DestinationShare;
  inProgress: Set<DialogueSlotState>;
  waiting: { admit(slot: DialogueSlotState): void; reject(): void }[];
  /** Successes since concurrency or rate was last raised. */
  successes: number;
  rateSuccesses: number;
  throttledInRow: number;
  loweredAtMs: number;
  pausedUntilMs: number;
  nextDialogueAtMs: number;
  /** Dialogues started in the current and in the previous minute. */
  started: { sinceMs: number; count: number; before: number };
  meanMs: number | null;
  /** Due time of the last requeued delivery. */
  spreadUntilMs: number;
  hasTimer: boolean;
};

export function createDestinationThrottles(options: {
  /** Maximum concurrent dialogues with one destination. */
  concurrencyMax: number;
  /** Monotonic clock. */
  nowMs: () => number;
  /** Maximum destinations in memory, in addition to those in use. */
  destinationsMax?: number;
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
    const created = unknownDestination(Math.min(concurrencyStart, concurrencyMax));
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

  function slotFor(target: Destination, slot: DialogueSlotState): DialogueSlot {
    return {
      startDialogue() {
        slot.startedAtMs = nowMs();
        countDialogue(target, slot.startedAtMs);
      },
      release(outcomes) {
        if (!target.inProgress.delete(slot)) return;
        if (outcomes && slot.startedAtMs !== null) {
          const durationMs = nowMs() - slot.startedAtMs;
          target.meanMs =
            target.meanMs === null ? durationMs : target.meanMs + newestWeight * (durationMs - target.meanMs);
          adjust(target, outcomes, { startedAtMs: slot.startedAtMs, nowMs: nowMs(), concurrencyMax });
        }
        admitWaiting(target);
      },
    };
  }

  function admitWaiting(target: Destination): void {
    if (target.pausedUntilMs > nowMs()) for (const waiter of target.waiting.splice(0)) waiter.reject();
    while (target.waiting.length > 0 && hasCapacity(target, nowMs())) {
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

  return {
    /** A slot, immediately or within 2 s; otherwise the time after which the delivery should be due again. */
    async acquire(name: string): Promise<DialogueSlot | { waitMs: number }> {
      const target = destinationOf(name);
      const atMs = nowMs();
      if (target.waiting.length === 0 && hasCapacity(target, atMs))
        return slotFor(target, occupy(target, atMs));
      if (target.pausedUntilMs > atMs || expectedMs(target, atMs) > acquireWaitMs)
        return { waitMs: spread(target, atMs) };
      return new Promise((resolve) => {
        const waiter = {
          admit(slot: DialogueSlotState) {
            clearTimeout(timer);
            resolve(slotFor(target, slot));
          },
          reject() {
            clearTimeout(timer);
            resolve({ waitMs: spread(target, nowMs()) });
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

    /** Postpones more deliveries behind those requeued before. `move` returns the number of deliveries. */
    async postponeBehind(
      name: string,
      move: (schedule: BacklogSchedule) => Promise<number>,
    ): Promise<number> {
      const target = destinationOf(name);
      const schedule = scheduleBehind(target, nowMs());
      const count = await move(schedule);
      target.spreadUntilMs = Math.min(
        target.spreadUntilMs + count * schedule.stepMs,
        latestMs(target, nowMs()),
      );
      return count;
    },

    /** Sets the operator's limit, an upper bound of the learned ones. Null removes it. */
    setLimit(name: string, share: DestinationShare | null): void {
      if (share === null && !destinations.has(name)) return;
      const target = destinationOf(name);
      const { dialogues, perMinute } = share ?? noShare;
      if (dialogues === target.share.dialogues && perMinute === target.share.perMinute) return;
      target.share = { dialogues, perMinute };
      // Times computed from the old limit are no longer valid.
      const rateNow = rateOf(target);
      target.nextDialogueAtMs = Math.min(
        target.nextDialogueAtMs,
        rateNow === null ? Number.NEGATIVE_INFINITY : nowMs() + minuteMs / rateNow,
      );
      target.spreadUntilMs = Number.NEGATIVE_INFINITY;
      admitWaiting(target);
    },

    /** Current limits of a destination; `perMinute` is null without a rate limit. */
    stateOf(name: string) {
      const target = destinations.get(name) ?? destinationOf(name);
      return {
        concurrency: concurrencyOf(target),
        perMinute: rateOf(target),
        pausedForMs: Math.max(0, target.pausedUntilMs - nowMs()),
      };
    },
  };
}

const noShare: DestinationShare = { dialogues: null, perMinute: null };

const concurrencyOf = ({ concurrency, share }: Destination): number =>
  Math.min(concurrency, share.dialogues ?? Number.POSITIVE_INFINITY);

/** Dialogues per minute; null without a limit. */
function rateOf({ perMinute, share }: Destination): number | null {
  if (perMinute === null || share.perMinute === null) return perMinute ?? share.perMinute;
  return Math.min(perMinute, share.perMinute);
}

const unknownDestination = (concurrency: number): Destination => ({
  concurrency,
  perMinute: null,
  share: noShare,
  inProgress: new Set(),
  waiting: [],
  successes: 0,
  rateSuccesses: 0,
  throttledInRow: 0,
  loweredAtMs: Number.NEGATIVE_INFINITY,
  pausedUntilMs: Number.NEGATIVE_INFINITY,
  nextDialogueAtMs: Number.NEGATIVE_INFINITY,
  started: { sinceMs: Number.NEGATIVE_INFINITY, count: 0, before: 0 },
  meanMs: null,
  spreadUntilMs: Number.NEGATIVE_INFINITY,
  hasTimer: false,
});

function hasCapacity(target: Destination, atMs: number): boolean {
  if (
    target.pausedUntilMs > atMs ||
    target.nextDialogueAtMs > atMs ||
    target.inProgress.size >= concurrencyOf(target)
  )
    return false;
  return target.inProgress.size === 0 || dialogueMs(target, atMs) <= slowMs;
}

function occupy(target: Destination, atMs: number): DialogueSlotState {
  const slot: DialogueSlotState = { startedAtMs: null };
  target.inProgress.add(slot);
  const perMinute = rateOf(target);
  if (perMinute !== null) target.nextDialogueAtMs = atMs + minuteMs / perMinute;
  return slot;
}

/** Expected duration of a dialogue: the moving average, or the age of the oldest in progress if longer. */
function dialogueMs({ meanMs, inProgress }: Destination, atMs: number): number {
  let longestMs = meanMs ?? 0;
  for (const { startedAtMs } of inProgress) longestMs = Math.max(longestMs, atMs - (startedAtMs ?? atMs));
  return longestMs;
}

function stepMs(target: Destination, atMs: number): number {
  const perMinute = rateOf(target);
  return Math.max(
    dialogueMs(target, atMs) / Math.max(1, concurrencyOf(target)),
    perMinute === null ? 0 : minuteMs / perMinute,
  );
}

/** Expected wait for a slot. Infinite if other workers have the destination's whole concurrency limit. */
const expectedMs = (target: Destination, atMs: number): number =>
  concurrencyOf(target) === 0
    ? Number.POSITIVE_INFINITY
    : Math.max((target.waiting.length + 1) * stepMs(target, atMs), target.nextDialogueAtMs - atMs);

/** Wait of the next requeued delivery. Deliveries return one by one, at the speed of the destination. */
function spread(target: Destination, atMs: number): number {
  const { waitMs } = scheduleBehind(target, atMs);
  target.spreadUntilMs = atMs + waitMs;
  return Math.ceil(waitMs);
}

/** Due times for the next requeued deliveries, after all those requeued before. */
function scheduleBehind(target: Destination, atMs: number): BacklogSchedule {
  const scheduleStepMs = Math.max(spreadMs.step, stepMs(target, atMs));
  const maxMs = latestMs(target, atMs) - atMs;
  const fromMs = Math.max(target.spreadUntilMs, target.pausedUntilMs, atMs + spreadMs.min);
  return { waitMs: Math.min(fromMs + scheduleStepMs - atMs, maxMs), stepMs: scheduleStepMs, maxMs };
}

const latestMs = (target: Destination, atMs: number): number =>
  Math.max(target.pausedUntilMs, atMs + spreadMs.max);

function countDialogue({ started }: Destination, atMs: number): void {
  const agoMs = atMs - started.sinceMs;
  if (agoMs >= minuteMs) {
    started.before = agoMs >= 2 * minuteMs ? 0 : started.count;
    started.count = 0;
    started.sinceMs = atMs;
  }
  started.count++;
}

/** Dialogues in the last minute; those of the previous counting minute count as spread evenly over it. */
function presentRate({ started: { sinceMs, count, before } }: Destination, atMs: number): number {
  return count + before * Math.max(0, 1 - (atMs - sinceMs) / minuteMs);
}

function adjust(
  target: Destination,
  outcomes: readonly Outcome[],
  { startedAtMs, nowMs, concurrencyMax }: { startedAtMs: number; nowMs: number; concurrencyMax: number },
): void {
  if (outcomes.some(isThrottled)) {
    // A dialogue that started before the last reduction gives no information about the reduced limits.
    if (startedAtMs < target.loweredAtMs) return;
    const seen = target.perMinute ?? presentRate(target, nowMs);
    target.concurrency = Math.max(1, Math.floor(target.concurrency / 2));
    target.perMinute = Math.max(rate.min, Math.floor(seen / 2));
    target.pausedUntilMs = nowMs + Math.min(pauseMs.first * 2 ** target.throttledInRow, pauseMs.max);
    target.throttledInRow++;
    target.loweredAtMs = nowMs;
    target.successes = 0;
    target.rateSuccesses = 0;
    return;
  }
  if (outcomes.every(isUnreachable)) {
    target.concurrency = 1;
    target.successes = 0;
    return;
  }
  if (!outcomes.some(({ kind }) => kind === "accepted")) return;
  if (startedAtMs >= target.loweredAtMs) target.throttledInRow = 0;
  if (++target.successes >= target.concurrency) {
    target.successes = 0;
    target.concurrency = Math.min(concurrencyMax, target.concurrency + 1);
  }
  if (target.perMinute === null || ++target.rateSuccesses < target.perMinute) return;
  target.rateSuccesses = 0;
  target.perMinute = target.perMinute + rate.step > rate.free ? null : target.perMinute + rate.step;
}

/** RFC 5321 section 4.2.1: 421 closes the channel; servers use it mostly for too many connections. */
const isThrottled = ({ kind, class: replyClass, reply }: Outcome): boolean =>
  kind !== "accepted" && (replyClass === "rate" || reply?.code === 421);

const isUnreachable = ({ kind, reply }: Outcome): boolean => kind === "deferred" && reply === null;
