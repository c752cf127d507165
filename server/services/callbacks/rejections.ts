import type { Deps } from "#server/deps";
import type { Log } from "#server/platform/log";

/**
 * Why a callback is rejected. `unknown`: no relay expects callbacks there. `reused`: the token was used for
 * another body.
 */
export type CallbackRejection = "unknown" | "forged" | "expired" | "reused";

type Count = { loggedMs: number; unlogged: number };

const logEveryMs = 60_000;
const countsMax = 1_000;
/** Per process and log. Requests without valid credentials must not be able to fill the log. */
const counts = new WeakMap<Log, Map<string, Count>>();

/**
 * Counts a rejected callback. The first is logged immediately; those of the next minute are logged with the
 * first one after it.
 */
export function countRejection(
  { log, clock }: Pick<Deps, "log" | "clock">,
  { relayId, provider, why }: { relayId: string; provider: string | null; why: CallbackRejection },
): void {
  // Rejections without a relay share one counter, because callers can invent relay ids.
  const key = why === "unknown" ? why : `${relayId} ${why}`;
  const ofLog = counts.get(log) ?? new Map<string, Count>();
  counts.set(log, ofLog);
  const nowMs = clock().getTime();
  const before = ofLog.get(key);
  if (before && nowMs - before.loggedMs < logEveryMs) {
    before.unlogged += 1;
    return;
  }
  if (!before && ofLog.size >= countsMax) ofLog.clear();
  ofLog.set(key, { loggedMs: nowMs, unlogged: 0 });
  const refused = (before?.unlogged ?? 0) + 1;
  log.warn("callback.refused", { why, refused, ...(why === "unknown" ? {} : { relayId, provider }) });
}
