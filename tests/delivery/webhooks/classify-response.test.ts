import { describe, expect, test } from "vitest";
import { classifyResponse, webhookRetryAfterMs } from "#server/delivery/webhooks/attempt";
import { WEBHOOK_RETRY_AFTER_SECONDS, webhookAttemptsMax } from "#server/services/webhooks/schedule";

const now = new Date("2026-03-01T10:00:00Z");
const classify = (status: number, headers: Record<string, string> = {}) =>
  classifyResponse({ kind: "answer", status, headers, body: Buffer.alloc(0), isCut: false }, now);

describe("classification of a response", () => {
  test.each([200, 201, 202, 204, 299])("%i is a success", (status) => {
    expect(classify(status)).toEqual({ kind: "succeeded", pauseMs: null });
  });

  test.each([300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 422, 500, 503])(
    "%i is a failure with a retry",
    (status) => {
      expect(classify(status)).toEqual({ kind: "failed", pauseMs: null });
    },
  );

  test("410 means that the endpoint is gone", () => {
    expect(classify(410)).toEqual({ kind: "gone", pauseMs: null });
  });

  test.each([429, 502, 504])("%i pauses the endpoint", (status) => {
    expect(classify(status)).toEqual({ kind: "failed", pauseMs: 30_000 });
  });

  test.each([
    [429, "120", 120_000],
    [503, "120", 120_000],
    [500, "1", 1_000],
    [429, "Sun, 01 Mar 2026 10:10:00 GMT", 600_000],
    [429, "Sun, 01 Mar 2026 09:00:00 GMT", 30_000],
    [429, "soon", 30_000],
    [429, "-5", 30_000],
    [503, "0", null],
    [503, "999999999", 43_200_000],
    [503, "99999999999999999999", null],
  ])("%i with Retry-After %s pauses for %s ms", (status, value, pauseMs) => {
    expect(classify(status, { "retry-after": value })).toEqual({ kind: "failed", pauseMs });
  });

  test("no response is a failure without a pause", () => {
    expect(classifyResponse({ kind: "fault", fault: "timeout" }, now)).toEqual({
      kind: "failed",
      pauseMs: null,
    });
  });
});

test("waits follow the retry table of the contract with 20% jitter, and then the event fails", () => {
  expect(WEBHOOK_RETRY_AFTER_SECONDS).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
  expect(webhookAttemptsMax).toBe(8);
  for (const [index, seconds] of WEBHOOK_RETRY_AFTER_SECONDS.entries()) {
    expect(webhookRetryAfterMs(index + 1, 0)).toBe(seconds * 800);
    expect(webhookRetryAfterMs(index + 1, 0.5)).toBe(seconds * 1_000);
    expect(webhookRetryAfterMs(index + 1, 0.999_999)).toBeLessThanOrEqual(seconds * 1_200);
  }
  expect(webhookRetryAfterMs(8, 0)).toBeNull();
});
