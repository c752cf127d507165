import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLog, errorFacts } from "#server/platform/log";
import { mergeRepeatedFaults } from "#server/platform/repeated-faults";

const lines: { event: string; level: string; repeated?: number; [fact: string]: unknown }[] = [];
const open = () =>
  mergeRepeatedFaults(
    createLog(
      (line) => lines.push(JSON.parse(line)),
      () => new Date(),
    ),
  );

beforeEach(() => {
  vi.useFakeTimers();
  lines.splice(0);
});
afterEach(() => vi.useRealTimers());

const repeats = 10_000;
const minuteMs = 60_000;
const totalOf = (event: string) =>
  lines.filter((line) => line.event === event).reduce((sum, { repeated = 1 }) => sum + repeated, 0);

test("a fault that repeats 10,000 times is logged at once and then once a minute with its count", () => {
  const log = open();
  const spreadMs = 5 * minuteMs;
  for (let n = 0; n < repeats; n++) {
    log.error("transport.alarm", { alarm: "connect", host: "relay.example", emailId: `email ${n}` });
    vi.advanceTimersByTime(spreadMs / repeats);
  }
  expect(lines[0]).toMatchObject({ level: "error", event: "transport.alarm", emailId: "email 0" });
  expect(lines[0]).not.toHaveProperty("repeated");
  vi.advanceTimersByTime(2 * minuteMs);
  expect(lines).toHaveLength(6);
  expect(totalOf("transport.alarm")).toBe(repeats);
  // After a minute without it, the next one is new.
  vi.advanceTimersByTime(2 * minuteMs);
  log.error("transport.alarm", { alarm: "connect", host: "relay.example", emailId: "later" });
  expect(lines.at(-1)).toMatchObject({ emailId: "later" });
  expect(lines.at(-1)).not.toHaveProperty("repeated");
});

test("faults of different parts are separate, and the same one from many requests is not", () => {
  const log = open();
  for (let n = 0; n < 50; n++)
    for (const code of ["ECONNREFUSED", "57P03"])
      log.warn("rest.database_away", { requestId: `request ${n}`, code });
  expect(lines.map(({ code }) => code)).toEqual(["ECONNREFUSED", "57P03"]);
  log.flush();
  expect(lines.slice(2).map(({ code, repeated }) => [code, repeated])).toEqual([
    ["ECONNREFUSED", 49],
    ["57P03", 49],
  ]);
});

test("faults of different tables are separate", () => {
  const log = open();
  for (const table of ["relays", "dkim_keys", "relays"])
    log.error("secret.values_unreadable", { table, count: 1 });
  expect(lines.map(({ table }) => table)).toEqual(["relays", "dkim_keys"]);
});

test("at the end of the process the counts that are not written yet are written once", () => {
  const log = open();
  for (let n = 0; n < 7; n++) log.warn("worker.claim_failed", { code: "57P03" });
  log.flush();
  log.flush();
  vi.advanceTimersByTime(2 * minuteMs);
  expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 6]);
  expect(vi.getTimerCount()).toBe(0);
});

test("facts that a caller can invent do not use unbounded memory, and every occurrence is counted", () => {
  const log = open();
  for (let n = 0; n < repeats; n++) log.error("transport.alarm", { alarm: "tls", host: `mx${n}.example` });
  expect(vi.getTimerCount()).toBeLessThan(1_000);
  expect(lines.length).toBeLessThan(1_000);
  log.flush();
  expect(totalOf("transport.alarm")).toBe(repeats);
});

test.each([
  ["info", "email.deferred"],
  ["warn", "delivery.lease_lost"],
  ["warn", "webhook.disabled"],
  ["warn", "first_user.link"],
  ["error", "relay.paused"],
  ["warn", "queue.paused"],
  ["error", "email.not_composed"],
  ["error", "rest.unexpected"],
  ["error", "console.unexpected"],
] as const)("a line about one change, email, request or delivery is never merged: %s %s", (level, event) => {
  const log = open();
  for (let n = 0; n < 5; n++) log[level](event, { id: n });
  expect(lines.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
});

test("an outage of the database is one line, and one when it is over", () => {
  const log = open();
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED", isDatabaseAway: true });
  const closed = Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" });
  const busy = Object.assign(new Error("busy"), { code: "CONNECTION_BUSY" });
  for (let n = 0; n < 100; n++) {
    log.warn("worker.claim_failed", errorFacts(refused));
    log.warn(`worker.task_${n}_failed`, errorFacts(new Error("Failed query", { cause: closed })));
    log.warn("rest.database_away", errorFacts(busy));
    vi.advanceTimersByTime(5_000);
  }
  expect(lines).toMatchObject([
    { event: "database.away", what: "worker.claim_failed", code: "ECONNREFUSED" },
  ]);
  vi.advanceTimersByTime(minuteMs);
  expect(lines.slice(1)).toMatchObject([{ event: "database.back", seconds: 495, repeated: 299 }]);
  // Other connections that are refused, and a slow call, are no outage of the database.
  log.warn("relay.failed", errorFacts(Object.assign(new Error("connect"), { code: "ECONNREFUSED" })));
  log.warn("rest.database_away", errorFacts(busy));
  expect(lines.slice(2).map(({ event }) => event)).toEqual(["relay.failed", "rest.database_away"]);
});
