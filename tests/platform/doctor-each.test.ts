import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkEach, type Subject } from "#server/services/doctor/each";
import { checkMsMax, ok } from "#server/services/doctor/finding";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const takes = (name: string, ms: number): Subject => ({
  name,
  run: () => new Promise((resolve) => setTimeout(() => resolve(ok("It works.", name)), ms)),
});

async function run(subjects: readonly Subject[]) {
  let isDone = false;
  const running = checkEach(subjects, { startedMs: performance.now(), msMax: 5_000 }).finally(() => {
    isDone = true;
  });
  await vi.advanceTimersByTimeAsync(checkMsMax);
  expect(isDone).toBe(true);
  return running;
}

test("a part that does not respond or fails is not checked, and the others are", async () => {
  const broken: Subject = { name: "broken", run: () => Promise.reject(new Error("It is broken.")) };
  const results = await run([takes("fast", 10), takes("silent", 60_000), broken, takes("slow", 4_000)]);
  expect(results).toMatchObject([
    { subject: "fast", status: "ok" },
    { subject: "silent", status: "not_checked", message: "It did not respond within 5.5 s." },
    { subject: "broken", status: "not_checked", message: "The check failed: It is broken." },
    { subject: "slow", status: "ok" },
  ]);
});

test("when the time of the check ends, the results until then are returned", async () => {
  const results = await run(Array.from({ length: 100 }, (_, n) => takes(`part ${n}`, 5_000)));
  expect(results.map(({ subject }) => subject)).toEqual(Array.from({ length: 100 }, (_, n) => `part ${n}`));
  expect(results.filter(({ status }) => status === "ok")).toHaveLength(30);
  expect(results.at(-1)).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining("No time"),
  });
});
