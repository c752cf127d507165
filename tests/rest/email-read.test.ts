import { and, eq, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { deliveries } from "#db/schema/deliveries";
import type { EmailStatus } from "#db/schema/emails";
import { openTestApp } from "./test-app";

const app = await openTestApp();

describe("one email", () => {
  test("with an invalid UUID is 422 with a message", async () => {
    for (const id of ["1", "%00", "..%2f..%2fetc", "018f0000-0000-7000-8000-00000000000g", "%252e"]) {
      const { status, body } = await app.get(`/api/emails/${id}`);
      if (id === "%00") expect(status).toBe(404);
      else expect({ status, name: body.name }).toEqual({ status: 422, name: "invalid_parameter" });
    }
  });

  test("contains for each recipient its state, its last reply, and the time and rule of the next attempt", async () => {
    const id = await app.accepted({
      to: ["a@example.net", "b@example.net", "c@example.net", "d@example.net"],
    });
    const set = (address: string, change: PgUpdateSetSource<typeof deliveries>) =>
      app.world.deps.db
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
    await app.world.hot`update queue set stage = 'claimed', attempts = 1, lease_token = id
      where id = (select id from deliveries where address = 'c@example.net')`;
    await set("d@example.net", { status: "unknown", attempts: 1 });
    expect((await app.show(id)).recipients).toMatchObject([
      {
        address: "a@example.net",
        kind: "to",
        status: "queued",
        attempts: 0,
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
        reason: "The server asked to try again later.",
        class: "soft",
        advice: expect.stringMatching(/^No action is needed now/),
        next_attempt_at: "2030-01-01T00:00:00.000Z",
        rule: "retry_schedule",
        rule_text: expect.stringMatching(/retry schedule/),
      },
      { status: "sending", next_attempt_at: null, rule: null, rule_text: null },
      { status: "unknown", next_attempt_at: null, rule: "held" },
    ]);
  });

  test("contains events with times in UTC, also those that the database stored without a zone", async () => {
    const id = await app.accepted();
    await app.world.hot`
      insert into email_events (id, team_id, email_id, type, recipient, data)
      values (gen_random_uuid(), ${app.world.id}, ${id}, 'email.delivery_delayed', 'ben@example.net',
        ${'{"attempt":1,"nextAttemptAt":"2030-01-01T00:00:00.5","rule":"retry_schedule"}'}::text::jsonb)`;
    expect((await app.show(id)).events).toMatchObject([
      { type: "email.queued", recipient: null },
      {
        type: "email.delivery_delayed",
        recipient: "ben@example.net",
        data: { attempt: 1, next_attempt_at: "2030-01-01T00:00:00.500Z", rule: "retry_schedule" },
      },
    ]);
  });

  test("has a last event that follows from its status", async () => {
    const id = await app.accepted();
    const table: [EmailStatus, string][] = [
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
    ];
    for (const [status, lastEvent] of table) {
      await app.world.hot`update emails set status = ${status} where id = ${id}`;
      expect(await app.show(id)).toMatchObject({ status, last_event: lastEvent });
    }
  });
});
