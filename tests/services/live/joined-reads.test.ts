import { expect, test } from "vitest";
import { createJoinedReads } from "#server/services/live/joined-reads";

/** A read that ends when the test says so. Its result is the number of reads that were started before it. */
function createRead() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const read = () =>
    new Promise<number>((resolve, reject) => {
      const nth = ends.length;
      ends.push({ resolve: () => resolve(nth), reject });
    });
  return { read, ends };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

test("a hundred concurrent calls cost two reads, and none receives data from before its call", async () => {
  const join = createJoinedReads(0);
  const { read, ends } = createRead();
  const first = join("team", read);
  const others = Array.from({ length: 99 }, () => join("team", read));
  await settle();
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  expect(await first).toBe(0);
  await settle();
  // The second read runs: who calls now waits for a third one.
  const late = join("team", read);
  ends[1]?.resolve();
  expect(new Set(await Promise.all(others))).toEqual(new Set([1]));
  await settle();
  ends[2]?.resolve();
  expect(await late).toBe(2);
  expect(ends).toHaveLength(3);
});

test("calls with different keys share nothing", async () => {
  const join = createJoinedReads(0);
  const results = await Promise.all(["a", "b", "c"].map((key) => join(key, async () => key)));
  expect(results).toEqual(["a", "b", "c"]);
});

test("a failed read fails its own calls, and the next one succeeds", async () => {
  const join = createJoinedReads(0);
  const { read, ends } = createRead();
  const first = join("team", read);
  const second = join("team", read);
  const third = join("team", read);
  const fault = new Error("no connection");
  ends[0]?.reject(fault);
  await expect(first).rejects.toBe(fault);
  await settle();
  ends[1]?.reject(fault);
  expect(await Promise.allSettled([second, third])).toEqual(
    Array(2).fill({ status: "rejected", reason: fault }),
  );
  expect(await join("team", async () => "read")).toBe("read");
});

test("a result is not kept for later calls", async () => {
  const join = createJoinedReads(0);
  let reads = 0;
  for (const expected of [1, 2, 3]) expect(await join("team", async () => ++reads)).toBe(expected);
});
