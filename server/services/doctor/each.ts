import { checkMsMax, notChecked, type Results } from "./finding";

const atOnce = 10;
/** What a subject may take beyond its own time limit, and a check beyond that of its last subject. */
const marginMs = 500;

type Result = Results[number];

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
): Promise<Results> {
  const lastStartMs = startedMs + checkMsMax - msMax - 2 * marginMs;
  const results: Results = [];
  const left = subjects.map((subject, index) => ({ ...subject, index }));
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift())
      results[next.index] =
        performance.now() > lastStartMs
          ? notChecked("No time was left to check it. Run the doctor again.", next.name)
          : await runWithin(msMax + marginMs, next);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function runWithin(ms: number, { name, run }: Subject): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result>((resolve) => {
    timer = setTimeout(() => resolve(notChecked(`It did not respond within ${ms / 1_000} s.`, name)), ms);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    return notChecked(`The check failed: ${error instanceof Error ? error.message : String(error)}`, name);
  } finally {
    clearTimeout(timer);
  }
}
