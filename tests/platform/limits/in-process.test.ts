import { expect, test } from "vitest";
import { createInProcessStore } from "#server/platform/limits/in-process";
import { judgedAtMs, WINDOW_MS, weighPrevious } from "#server/platform/limits/sliding-window";

const someMinute = Date.UTC(2030, 0, 1, 12, 0);

test("after a full minute, each later millisecond allows requests, for each limit up to 100,000", () => {
  for (let limit = 1; limit <= 100_000; limit++) {
    if (weighPrevious(limit, judgedAtMs(someMinute)) >= limit) expect.fail(`${limit}`);
  }
  for (let offsetMs = 0; offsetMs < WINDOW_MS; offsetMs++) {
    for (const limit of [1, 2, 60, 100, 300, 1_000]) {
      const weight = weighPrevious(limit, judgedAtMs(someMinute + offsetMs));
      if (weight >= limit) expect.fail(`${limit} at ${offsetMs} ms`);
    }
  }
});

test("beyond its maximum it deletes the oldest counter of the minute, and rejects no request because of it", () => {
  const store = createInProcessStore(() => someMinute, 100);
  for (let key = 0; key < 100; key++) store.take(`key-${key}`, 1);
  expect(store.take("key-0", 1).allowed).toBe(false);
  expect(store.take("one-more", 1).allowed).toBe(true);
  expect(store.take("key-99", 1).allowed).toBe(false);
  expect(store.take("key-0", 1).allowed).toBe(true);
});

test("peeking at many keys stores none of them", () => {
  const store = createInProcessStore(() => someMinute, 1);
  store.take("key", 1);
  for (let key = 0; key < 1_000; key++) store.peek(`key-${key}`, 1);
  expect(store.take("key", 1).allowed).toBe(false);
});

test("after a clock steps back over a boundary, the counts of that minute still apply", () => {
  let nowMs = someMinute - 1;
  const store = createInProcessStore(() => nowMs);
  store.take("key", 1);
  nowMs = someMinute + 10;
  expect(store.take("key", 1).allowed).toBe(true);
  nowMs = someMinute - 1;
  expect(store.take("key", 1).allowed).toBe(false);
  nowMs = someMinute + 10;
  expect(store.take("key", 1).allowed).toBe(false);
});

test("a clock that is set back an hour starts with fresh counts", () => {
  let nowMs = someMinute;
  const store = createInProcessStore(() => nowMs);
  store.take("key", 1);
  nowMs -= 3_600_000;
  expect(store.take("key", 1).allowed).toBe(true);
});
