import type { Verdict } from "./callback";

/** Allowed clock skew: how far a provider's clock may be ahead of ours. */
const aheadSecondsMax = 300;

/** Checks the age of a callback with a valid signature. `signedSeconds` is the signed time in seconds since 1970. */
export function judgeAge(signedSeconds: number, now: Date, ageSecondsMax: number): Verdict {
  const age = now.getTime() / 1_000 - signedSeconds;
  return age <= ageSecondsMax && age >= -aheadSecondsMax ? "genuine" : "expired";
}
