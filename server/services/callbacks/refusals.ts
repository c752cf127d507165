import type { Deps } from "#server/deps";
import type { Log } from "#server/log";

/** Why a call is not heard. `unknown`: nobody is to be heard there. `reused`: a token that was used for something else. */
export type Refusal = "unknown" | "forged" | "expired" | "reused";

type Count = { toldMs: number; untold: number };

const toldEveryMs = 60_000;
const countsMax = 1_000;
/** Of one process, beside the log that tells them: anybody may call, and must not fill the log by it. */
const counts = new WeakMap<Log, Map<string, Count>>();

/** Counts a refused call. The first is told in the log at once, those of the next minute with the first one after it. */
export function countRefusal(
  { log, clock }: Pick<Deps, "log" | "clock">,
  { relayId, provider, why }: { relayId: string; provider: string | null; why: Refusal },
): void {
  // What is nobody's is counted together: its ids are the caller's to invent.
  const key = why === "unknown" ? why : `${relayId} ${why}`;
  const ofLog = counts.get(log) ?? new Map<string, Count>();
  counts.set(log, ofLog);
  const nowMs = clock().getTime();
  const before = ofLog.get(key);
  if (before && nowMs - before.toldMs < toldEveryMs) {
    before.untold += 1;
    return;
  }
  if (!before && ofLog.size >= countsMax) ofLog.clear();
  ofLog.set(key, { toldMs: nowMs, untold: 0 });
  const refused = (before?.untold ?? 0) + 1;
  log.warn("callback.refused", { why, refused, ...(why === "unknown" ? {} : { relayId, provider }) });
}
