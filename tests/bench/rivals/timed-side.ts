import type { Side } from "../measure";

const secondsPerRun = 5;

/**
 * A side that sends a number of emails, and returns how many a second. Its warm-up has the given number; the
 * later ones have as many as it sends in some seconds, so that a slow side takes as long as a fast one.
 */
export function timedSide(
  warmUpEmails: number,
  run: (emails: number, when: { isWarmUp: boolean }) => Promise<number>,
): Side {
  let emails = warmUpEmails;
  return async (when) => {
    const rate = emails / ((await run(emails, when)) / 1_000);
    if (when.isWarmUp) emails = Math.ceil(rate * secondsPerRun);
    return rate;
  };
}
