"use client";

import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import { dayMs, minuteMs } from "#server/shared/durations";

const Now = createContext(0);
const tickMs = 10_000;
const soonMs = 5_000;

/**
 * The clock of all relative times. It starts at the server's time, so server and browser first render the
 * same text.
 */
export function NowProvider({ startMs, children }: { startMs: number; children: ReactNode }) {
  const [nowMs, setNowMs] = useState(startMs);
  useEffect(() => {
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return <Now value={nowMs}>{children}</Now>;
}

/** The time of that clock, in milliseconds since 1970. */
export const useNowMs = (): number => use(Now);

/** Whether the relative times in a part of a page are displayed as exact ones. */
export const ExactTimes = createContext(false);

type WhenProps = { at: string; isDue?: boolean; isLong?: boolean; className?: string };

/**
 * A relative time. The exact time is shown on hover: in UTC until hydration, then in the user's time zone.
 * Without `isDue` it is the time of something that has happened, and is never shown as future, although data
 * can be newer than the last tick of the clock, and a browser's clock can be behind the server's. `isLong`:
 * with whole words, for sentences. Within `ExactTimes` it is an exact time.
 */
export function When({ at, isDue = false, isLong = false, className }: WhenProps) {
  const nowMs = use(Now);
  const isExact = use(ExactTimes);
  const atMs = Date.parse(at);
  return (
    <Moment at={at} className={`whitespace-nowrap tabular-nums ${className ?? ""}`}>
      {isExact ? formatExact(at) : relativeTime(atMs, isDue ? nowMs : Math.max(nowMs, atMs), isLong)}
    </Moment>
  );
}

type MomentProps = { at: string; className?: string | undefined; children?: ReactNode };

/** Any text for a time, with the exact time on hover; without a text, the exact time. */
export function Moment({ at, className, children }: MomentProps) {
  const isHydrated = useIsHydrated();
  const isExact = use(ExactTimes);
  const date = new Date(at);
  const exact = isHydrated
    ? date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" })
    : `${at.slice(0, 19).replace("T", " ")} UTC`;
  return (
    <time dateTime={at} title={exact} className={className}>
      {children ?? (isExact ? formatExact(at) : exact)}
    </time>
  );
}

/** Whether the browser has taken over the page that the server rendered. */
export const useIsHydrated = (): boolean => useSyncExternalStore(neverChanges, yes, no);
const neverChanges = () => () => {};
const yes = () => true;
const no = () => false;

/**
 * "24 Nov 2026, 09:03:07.512 CET" in the time zone of the browser: a log line of another system is compared
 * with it.
 */
const formatExact = (at: string): string =>
  new Date(at).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    timeZoneName: "short",
  });

/** Upper bound in seconds, length of the unit in seconds, and its symbol and name. */
const UNITS = [
  [60, 1, "s", "second"],
  [3_600, 60, "min", "minute"],
  [86_400, 3_600, "h", "hour"],
  [Number.POSITIVE_INFINITY, 86_400, "d", "day"],
] as const;

/** "just now", "5 min ago", "in 12 s", or the date if it is more than 30 days away. */
function relativeTime(atMs: number, nowMs: number, isLong: boolean): string {
  const distanceMs = Math.abs(atMs - nowMs);
  if (atMs <= nowMs && distanceMs < minuteMs) return "just now";
  if (distanceMs < soonMs) return "in a few seconds";
  if (distanceMs > 30 * dayMs) return new Date(atMs).toISOString().slice(0, 10);
  return atMs > nowMs
    ? `in ${formatDuration(distanceMs, Math.round, isLong)}`
    : `${formatDuration(distanceMs, Math.floor, isLong)} ago`;
}

/** "2 s", "5 min", "3 h", "4 d", or with words "2 seconds": in the largest unit that fits. */
export function formatDuration(ms: number, round = Math.floor, isLong = false): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const unit = UNITS.find(([below]) => seconds < below) ?? UNITS[3];
  const count = round(seconds / unit[1]);
  return `${count} ${isLong ? `${unit[3]}${count === 1 ? "" : "s"}` : unit[2]}`;
}
