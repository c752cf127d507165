import type { Outcome } from "#server/mail/outcome";
import {
  blockSeconds,
  type Learned,
  type OperatorLimit,
  rateLimit,
  shareOf,
  type Workers,
} from "#server/services/destinations/states";
import { minuteMs } from "#server/shared/durations";
import type { BacklogSchedule } from "./postpone-backlog";

/*
 * One destination in the memory of a worker: what it allows now, and how long what must wait is postponed.
 */

/** No second dialogue starts with a destination while one, or the average, takes longer than this. */
export const slowMs = 5_000;
/** Requeued deliveries are spread over the time that the destination needs for them, up to `max`. */
const spreadMs = { step: 50, min: 1_000, max: 10 * 60_000 };
/**
 * How long the queue waits after the end of a block until its deliveries are due by themselves: until then a
 * worker makes those due that have the highest priority.
 */
const releasedFirstMs = 3_000;
/** Weight of the newest dialogue in the moving average. */
const newestWeight = 0.3;
/**
 * A destination is new until it has accepted this many transactions. After the first `free` ones, as many
 * start in a minute as `perMinute` times those that it has accepted.
 */
const newDestination = { free: 60, perMinute: 4, until: 1_000 };

export type DialogueSlotState = { startedAtMs: number | null };
export type Destination = {
  learned: Learned;
  workers: Workers;
  limit: OperatorLimit;
  isUnreachable: boolean;
  inProgress: Set<DialogueSlotState>;
  waiting: { admit(slot: DialogueSlotState): void; reject(): void }[];
  /** Successes since the connections were last raised. */
  successes: number;
  loweredAtMs: number;
  pausedUntilMs: number;
  nextDialogueAtMs: number;
  /** Dialogues started in the current and in the previous minute. */
  started: { sinceMs: number; count: number; before: number };
  meanMs: number | null;
  /** Due time of the last requeued delivery. */
  spreadUntilMs: number;
  /** Whether deliveries of the queue may wait for this destination. */
  hasBacklog: boolean;
  /** Domains of the recipients whose deliveries were postponed. */
  domains: Set<string>;
  hasTimer: boolean;
};

const alone: Workers = { others: 0, before: 0 };
const unlimited: OperatorLimit = { dialogues: null, perMinute: null };

export const createDestination = (learned: Learned): Destination => ({
  learned,
  workers: alone,
  limit: unlimited,
  isUnreachable: false,
  inProgress: new Set(),
  waiting: [],
  successes: 0,
  loweredAtMs: Number.NEGATIVE_INFINITY,
  pausedUntilMs: Number.NEGATIVE_INFINITY,
  nextDialogueAtMs: Number.NEGATIVE_INFINITY,
  started: { sinceMs: Number.NEGATIVE_INFINITY, count: 0, before: 0 },
  meanMs: null,
  spreadUntilMs: Number.NEGATIVE_INFINITY,
  hasBacklog: false,
  domains: new Set(),
  hasTimer: false,
});

/** This worker's concurrent dialogues, before the maximum of the process. */
const concurrencyShare = ({ learned, workers, limit, isUnreachable }: Destination): number => {
  const connections = Math.min(learned.connections, limit.dialogues ?? Number.POSITIVE_INFINITY);
  return Math.min(shareOf(connections, workers), isUnreachable ? 1 : Number.POSITIVE_INFINITY);
};

export const concurrencyOf = (target: Destination, concurrencyMax: number): number =>
  Math.min(concurrencyShare(target), concurrencyMax);

/** This worker's dialogues per minute; null without a limit. */
export function rateOf({ learned: { perMinute, accepted }, limit, workers }: Destination): number | null {
  const isNew = accepted !== null && accepted >= newDestination.free && accepted < newDestination.until;
  const limits = [perMinute, limit.perMinute, isNew ? accepted * newDestination.perMinute : null];
  const lowest = Math.min(...limits.map((one) => one ?? Number.POSITIVE_INFINITY));
  return lowest === Number.POSITIVE_INFINITY ? null : lowest / (workers.others + 1);
}

export function hasCapacity(target: Destination, atMs: number, concurrencyMax: number): boolean {
  if (
    target.pausedUntilMs > atMs ||
    target.nextDialogueAtMs > atMs ||
    target.inProgress.size >= concurrencyOf(target, concurrencyMax)
  )
    return false;
  return target.inProgress.size === 0 || dialogueMs(target, atMs) <= slowMs;
}

export function occupy(target: Destination, atMs: number): DialogueSlotState {
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

/** Expected time from one dialogue to the next. */
export function stepMs(target: Destination, atMs: number, concurrencyMax: number): number {
  const perMinute = rateOf(target);
  return Math.max(
    dialogueMs(target, atMs) / Math.max(1, concurrencyOf(target, concurrencyMax)),
    perMinute === null ? 0 : minuteMs / perMinute,
  );
}

/** Expected wait for a slot. Infinite if other workers have the destination's whole concurrency limit. */
export const expectedMs = (target: Destination, atMs: number, concurrencyMax: number): number =>
  concurrencyOf(target, concurrencyMax) === 0
    ? Number.POSITIVE_INFINITY
    : Math.max(
        (target.waiting.length + 1) * stepMs(target, atMs, concurrencyMax),
        target.nextDialogueAtMs - atMs,
      );

/** Due times for the next requeued deliveries, after all those requeued before. */
export function scheduleBehind(target: Destination, atMs: number, concurrencyMax: number): BacklogSchedule {
  const scheduleStepMs = Math.max(spreadMs.step, stepMs(target, atMs, concurrencyMax));
  const maxMs = latestMs(target, atMs) - atMs;
  const pausedMs = target.pausedUntilMs - atMs;
  const fromMs = Math.max(
    target.spreadUntilMs - atMs,
    pausedMs > 0 ? pausedMs + releasedFirstMs : 0,
    spreadMs.min,
  );
  return { waitMs: Math.min(fromMs + scheduleStepMs, maxMs), stepMs: scheduleStepMs, maxMs };
}

export const latestMs = (target: Destination, atMs: number): number =>
  Math.max(target.pausedUntilMs + releasedFirstMs, atMs + spreadMs.max);

export function countDialogue({ started }: Destination, atMs: number): void {
  const agoMs = atMs - started.sinceMs;
  if (agoMs >= minuteMs) {
    started.before = agoMs >= 2 * minuteMs ? 0 : started.count;
    started.count = 0;
    started.sinceMs = atMs;
  }
  started.count++;
}

/**
 * Dialogues of all workers in the last minute, if the others start as many as this one. Those of the previous
 * counting minute count as spread evenly over it.
 */
export const presentRate = ({ started, workers }: Destination, atMs: number): number =>
  (started.count + started.before * Math.max(0, 1 - (atMs - started.sinceMs) / minuteMs)) *
  (workers.others + 1);

export function measure(target: Destination, durationMs: number): void {
  target.meanMs =
    target.meanMs === null ? durationMs : target.meanMs + newestWeight * (durationMs - target.meanMs);
}

/** Lowers the limits, as `recordDestinations` does for all workers. */
export function lower(target: Destination, atMs: number): void {
  const { connections, perMinute, accepted, objections } = target.learned;
  const seen = Math.min(perMinute ?? Number.POSITIVE_INFINITY, presentRate(target, atMs));
  const seconds = Math.min(blockSeconds.first * 2 ** objections, blockSeconds.max);
  target.learned = {
    connections: Math.max(1, Math.floor(connections / 2)),
    perMinute: Math.max(rateLimit.min, Math.floor(seen / 2)),
    objections: objections + 1,
    accepted,
  };
  target.pausedUntilMs = atMs + seconds * 1_000;
  target.loweredAtMs = atMs;
  target.successes = 0;
}

/** Counts an accepted transaction. Returns by how many connections it raises the limit. */
export function raise(target: Destination, startedAtMs: number, concurrencyMax: number): 0 | 1 {
  const { learned } = target;
  target.isUnreachable = false;
  if (startedAtMs >= target.loweredAtMs) learned.objections = 0;
  if (learned.accepted !== null) learned.accepted++;
  if (learned.perMinute !== null)
    learned.perMinute = learned.perMinute < rateLimit.free ? learned.perMinute + 1 : null;
  const share = shareOf(learned.connections, target.workers);
  if (share >= concurrencyMax || ++target.successes < share) return 0;
  target.successes = 0;
  learned.connections++;
  return 1;
}

/** No server gave a reply. */
export const isUnreachable = ({ kind, reply }: Outcome): boolean => kind === "deferred" && reply === null;
