import { and, eq, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "#db/schema/deliveries";
import type { EmailStatus } from "#db/schema/emails";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

describe("one mail", () => {
  test("of another team, or of nobody, is the same 404", async () => {
    const other = await desk.world.otherTeam();
    const { token: foreign } = await other.key();
    const id = await desk.accepted();
    const answers = await Promise.all([
      desk.world.api("GET", `/api/emails/${id}`, {
        token: foreign,
        headers: { "x-request-id": "same-request" },
      }),
      desk.world.api("GET", "/api/emails/018f0000-0000-7000-8000-000000000000", {
        token: foreign,
        headers: { "x-request-id": "same-request" },
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0].body).toEqual(answers[1].body);
  });

  test("under what is no UUID is 422 and says so", async () => {
    for (const id of ["1", "%00", "..%2f..%2fetc", "018f0000-0000-7000-8000-00000000000g", "%252e"]) {
      const { status, body } = await desk.get(`/api/emails/${id}`);
      if (id === "%00") expect(status).toBe(404);
      else expect({ status, name: body.name }).toEqual({ status: 422, name: "invalid_parameter" });
    }
  });

  test("tells for each recipient its state, its last reply, and when and by which rule it is tried again", async () => {
    const id = await desk.accepted({
      to: ["a@example.net", "b@example.net", "c@example.net", "d@example.net"],
    });
    const set = (address: string, change: PgUpdateSetSource<typeof deliveries>) =>
      desk.world.deps.db
        .update(deliveries)
        .set(change)
        .where(and(eq(deliveries.emailId, id), eq(deliveries.address, address)));
    await set("a@example.net", { dueAt: sql`'infinity'`, waitRule: "no_transport" });
    await set("b@example.net", {
      attempts: 2,
      dueAt: new Date("2030-01-01T00:00:00Z"),
      waitRule: "retry_schedule",
      lastCode: 451,
      lastEnhanced: "4.7.1",
      lastText: "Try again later",
      lastHost: "mx.example.net",
      lastReason: "The server asked to try again later.",
    });
    await set("c@example.net", { status: "sending", stage: "claimed", attempts: 1 });
    await set("d@example.net", { status: "unknown", attempts: 1 });
    expect((await desk.show(id)).recipients).toEqual([
      {
        address: "a@example.net",
        kind: "to",
        status: "queued",
        attempts: 0,
        last_reply: null,
        relay: null,
        provider_id: null,
        reason: null,
        class: null,
        advice: null,
        next_attempt_at: null,
        rule: "no_transport",
        rule_text: expect.stringMatching(/SMTP_URL/),
      },
      {
        address: "b@example.net",
        kind: "to",
        status: "deferred",
        attempts: 2,
        last_reply: { code: 451, enhanced: "4.7.1", text: "Try again later", host: "mx.example.net" },
        relay: null,
        provider_id: null,
        reason: "The server asked to try again later.",
        class: "soft",
        advice: expect.stringMatching(/^Nothing to do at once/),
        next_attempt_at: "2030-01-01T00:00:00.000Z",
        rule: "retry_schedule",
        rule_text: expect.stringMatching(/retry schedule/),
      },
      expect.objectContaining({ status: "sending", next_attempt_at: null, rule: null, rule_text: null }),
      expect.objectContaining({ status: "unknown", next_attempt_at: null, rule: "held" }),
    ]);
  });

  test("tells its events with times in UTC, also those that the database wrote without zone", async () => {
    const id = await desk.accepted();
    await desk.world.deps.hot`
      insert into email_events (id, team_id, email_id, type, recipient, data)
      values (gen_random_uuid(), ${desk.world.id}, ${id}, 'email.delivery_delayed', 'ben@example.net',
        ${'{"attempt":1,"nextAttemptAt":"2030-01-01T00:00:00.5","rule":"retry_schedule"}'}::text::jsonb)`;
    expect((await desk.show(id)).events).toMatchObject([
      { type: "email.queued", recipient: null },
      {
        type: "email.delivery_delayed",
        recipient: "ben@example.net",
        data: { attempt: 1, next_attempt_at: "2030-01-01T00:00:00.500Z", rule: "retry_schedule" },
      },
    ]);
  });

  test.each<[EmailStatus, string]>([
    ["complained", "complained"],
    ["bounced", "bounced"],
    ["failed", "failed"],
    ["unknown", "delivery_delayed"],
    ["deferred", "delivery_delayed"],
    ["sending", "queued"],
    ["queued", "queued"],
    ["scheduled", "scheduled"],
    ["sent", "sent"],
    ["delivered", "delivered"],
    ["suppressed", "suppressed"],
    ["canceled", "canceled"],
  ])("in the state %s has the dialect's last event %s", async (status, lastEvent) => {
    const id = await desk.accepted();
    await desk.world.deps.hot`update emails set status = ${status} where id = ${id}`;
    expect(await desk.show(id)).toMatchObject({ status, last_event: lastEvent });
  });
});
