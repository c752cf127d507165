import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { silentLog } from "#server/platform/log";
import { createLive, type Live } from "#server/services/live/watch";

describe("without hints, a team is read", () => {
  const opened: Live[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    for (const live of opened.splice(0)) live.close();
    vi.useRealTimers();
  });

  /** Watches a team, and counts its readings in 10 seconds. */
  async function count(isListening: () => boolean) {
    let readings = 0;
    const marks = { emails: "0", webhooks: null, settings: null };
    let onHint = () => {};
    const live = createLive({
      read: async () => {
        readings += 1;
        return { ...marks };
      },
      findAllowed: async (_, ids) => new Set(ids),
      log: silentLog,
      listen: (hint) => {
        onHint = hint;
        return isListening;
      },
    });
    opened.push(live);
    const page = live.watch({ teamId: "a", userId: "ann", sessionId: "ann" }, new AbortController().signal);
    void page?.next();
    await vi.advanceTimersByTimeAsync(100);
    const inTenSeconds = async () => {
      const before = readings;
      await vi.advanceTimersByTimeAsync(10_000);
      return readings - before;
    };
    return { marks, inTenSeconds, hint: () => onHint() };
  }

  test("every other second while hints are received, and each second before", async () => {
    let isListening = false;
    const { inTenSeconds } = await count(() => isListening);
    expect(await inTenSeconds()).toBe(10);
    isListening = true;
    await inTenSeconds();
    expect(await inTenSeconds()).toBe(5);
  });

  test("each second after a change without one, until the next hint", async () => {
    const { marks, inTenSeconds, hint } = await count(() => true);
    expect(await inTenSeconds()).toBe(5);
    marks.emails = "1";
    await inTenSeconds();
    expect(await inTenSeconds()).toBe(10);
    hint();
    await inTenSeconds();
    expect(await inTenSeconds()).toBe(5);
  });
});
