import type { STATUSES, Status } from "#server/shared/email-words";
import type { RelayState } from "#server/shared/wire/relay-states";

export type Tone = (typeof STATUSES)[Status]["tone"];

/** The color of a relay's state. */
export const RELAY_TONES: Record<RelayState, Tone> = {
  healthy: "good",
  unstable: "warn",
  failing: "bad",
  untested: "mute",
  paused: "warn",
};

/** How often a page that shows the status is refetched, in milliseconds. The other statuses rarely change. */
const REFETCH_MS: Partial<Record<Status, number>> = {
  queued: 2_000,
  sending: 1_000,
  deferred: 5_000,
  scheduled: 15_000,
  unknown: 15_000,
};

/** Older entries rarely change soon, so they are refetched less often. */
const recentMs = 120_000;
const slowRefetchMs = 10_000;

/**
 * The refetch interval for entries with these statuses, in milliseconds: the shortest interval of all of
 * them. Null if no status has one. `since` is in ISO 8601.
 */
export function refetchIntervalMs(entries: readonly { status: Status; since: string }[]): number | null {
  const intervals = entries.flatMap(({ status, since }) => {
    const interval = REFETCH_MS[status];
    if (interval === undefined) return [];
    return Date.now() - Date.parse(since) > recentMs ? Math.max(interval, slowRefetchMs) : interval;
  });
  return intervals.length > 0 ? Math.min(...intervals) : null;
}
