import type { Verdict } from "./callback";

/** How far a provider's clock may be ahead of ours. */
const aheadSecondsMax = 300;

/** What the age of a genuine call makes of it. The time is in seconds since 1970, as it was signed. */
export function judgeAge(signedSeconds: number, now: Date, ageSecondsMax: number): Verdict {
  const age = now.getTime() / 1_000 - signedSeconds;
  return age <= ageSecondsMax && age >= -aheadSecondsMax ? "genuine" : "expired";
}
