import { within } from "#server/platform/within";
import { checkMsMax, notChecked, type Result } from "./finding";

const atOnce = 10;
/** What a subject may take beyond its own time limit, and a check beyond that of its last subject. */
const marginMs = 500;

/** One part of a check, such as a relay. `run` has a time limit of its own. */
export type Subject = { name: string; run: () => Promise<Result> };

/**
 * Runs the parts of a check that started at `startedMs`, 10 at the same time, each within `msMax`. One that
 * is slow or fails does not affect the others: it is not checked, like those for which no time of the check
 * is left. The results have the order of the subjects.
 */
export async function checkEach(
  subjects: readonly Subject[],
  { startedMs, msMax }: { startedMs: number; msMax: number },
): Promise<Result[]> {
  const lastStartMs = startedMs + checkMsMax - msMax - 2 * marginMs;
  const results: Result[] = [];
  const left = subjects.map((subject, index) => ({ ...subject, index }));
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift())
      results[next.index] =
        performance.now() > lastStartMs
          ? notChecked("No time was left to check it. Run the doctor again.", next.name)
          : await runSubject(msMax + marginMs, next);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

const runSubject = (ms: number, { name, run }: Subject): Promise<Result> =>
  runWithin(ms, run, {
    late: notChecked(`It did not respond within ${ms / 1_000} s.`, name),
    onFault: (error) =>
      notChecked(`The check failed: ${error instanceof Error ? error.message : String(error)}`, name),
  });

/** The result of `run`; `late` if it takes longer, and that of `onFault` if it fails. */
export async function runWithin<T>(
  ms: number,
  run: () => Promise<T>,
  { late, onFault }: { late: T; onFault: (error: unknown) => T },
): Promise<T> {
  const tooLate = new Error();
  try {
    return await within(run(), { ms, fault: () => tooLate });
  } catch (error) {
    return error === tooLate ? late : onFault(error);
  }
}
