import { describe, expect, test } from "vitest";
import type { TestClock } from "../support/deps";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

/** A fixed clock, far ahead of the database, so no email becomes due during the test. */
const clock: TestClock = { now: () => new Date("2054-11-22T09:13:00Z"), advance: () => {} };

const app = await openTestApp({ clock });

const NO_DAY = [
  "2054-11-31T10:00:00Z",
  "2054-11-31T10:00:00+01:00",
  "2054-11-31T10:00",
  "2054-11-31 10:00",
  "2054-11-31",
  "2054-11-31T10:00:00 UTC",
];
const REJECTED: [scheduled_at: string, why: RegExp][] = [
  ...NO_DAY.map((text): [string, RegExp] => [text, /2054-11-31 is not a valid date/]),
  ...["2054-12-01", "2054/12/01", "1 December", "tomorrow", "Friday", "tomorrow morning"].map(
    (text): [string, RegExp] => [text, /needs a time/],
  ),
  ...["12.11.2054 09:00", "30.11.2054 9:00", "11/12 at 9am", "12/1/2054 9am", "1-12-54 10:00"].map(
    (text): [string, RegExp] => [text, /another day in another country/],
  ),
];
const GOOD: [given: string, at: string][] = [
  ["2054-12-01T10:00:00Z", "2054-12-01T10:00:00.000Z"],
  ["2054-12-01T10:00:00+01:00", "2054-12-01T09:00:00.000Z"],
  ["2054-12-01T10:00:00", "2054-12-01T10:00:00.000Z"],
  ["in 1 min", "2054-11-22T09:14:00.000Z"],
  ["in 2 days", "2054-11-24T09:13:00.000Z"],
  ["tomorrow at 10:00", "2054-11-23T10:00:00.000Z"],
  ["tomorrow at 9am", "2054-11-23T09:00:00.000Z"],
  ["Friday at 3pm ET", "2054-11-27T20:00:00.000Z"],
];

describe("the scheduled time of an email", () => {
  test("is rejected in a batch and in a change too, and nothing changes", async () => {
    const id = await app.accepted({ scheduled_at: "in 1 hour" });
    const before = await app.world.rowCounts();
    const scheduled_at = NO_DAY[0];
    for (const reply of [
      await app.call("POST", "/api/emails/batch", [{ ...app.validEmail, scheduled_at }]),
      await app.call("PATCH", `/api/emails/${id}`, { scheduled_at }),
    ])
      expect(reply).toMatchObject(rejected(422, /`scheduled_at`.*2054-11-31 is not a valid date/));
    expect(await app.world.rowCounts()).toEqual(before);
    expect((await app.show(id)).scheduled_at).toBe("2054-11-22T10:13:00.000Z");
  });

  test.each(REJECTED)(
    "is rejected if it is no day, has no time, or could be two days: %s",
    async (scheduled_at, why) => {
      const reply = await app.send({ scheduled_at });
      expect(reply).toMatchObject(rejected(422, new RegExp(`\`scheduled_at\`.*${why.source}`)));
    },
  );

  test("is parsed correctly", async () => {
    const ids: string[] = [];
    for (const [scheduled_at] of GOOD) ids.push(await app.accepted({ scheduled_at }));
    await deliverDue(app.world.withTransport(null));
    for (const [n, [given, at]] of GOOD.entries())
      expect(await app.show(ids[n] ?? ""), given).toMatchObject({ status: "scheduled", scheduled_at: at });
  });
});

test("no other field of the API accepts a day that does not exist", async () => {
  const time = "2026-02-30T10:00:00Z";
  const webhooks = await app.call("POST", "/api/webhooks", {
    endpoint: "http://127.0.0.1:9/",
    events: ["email.sent"],
  });
  const before = await app.world.rowCounts();
  const rejected: [field: string, reply: { status: number; body: Record<string, unknown> }][] = [
    ["since", await app.call("GET", `/api/emails?since=${time}`)],
    ["until", await app.call("GET", `/api/emails?until=${time}`)],
    ["since", await app.call("POST", "/api/emails/retry", { since: time })],
    ["since", await app.call("GET", "/api/usage?since=2026-02-30")],
    ["until", await app.call("GET", "/api/usage?until=2026-02-30")],
    [
      "expires_at",
      await app.call("POST", "/api/api-keys", { name: "Key", expires_at: "2027-02-30T10:00:00Z" }),
    ],
    ["since", await app.call("POST", `/api/webhooks/${webhooks.body.id}/replay`, { since: time })],
    [
      "until",
      await app.call("POST", `/api/webhooks/${webhooks.body.id}/replay`, {
        since: "2026-01-01T00:00:00Z",
        until: time,
      }),
    ],
  ];
  for (const [field, { status, body }] of rejected) {
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.error).toContain(field);
  }
  expect(await app.world.rowCounts()).toEqual(before);
});
