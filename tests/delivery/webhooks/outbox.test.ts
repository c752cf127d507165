import { expect, test } from "vitest";
import { EVENT_TYPES } from "#db/schema/events";
import { newId } from "#server/platform/ids";
import { announce } from "#server/services/webhooks/events/announce";
import { forEachTest } from "../../support/fixtures";
import { createWebhookWorld } from "../../support/webhook-world";

const world = forEachTest(() => createWebhookWorld({ connectionsMax: 8 }));

class Broken extends Error {}

const counts = async () => {
  const { email_events: events, webhook_deliveries: outbox } = await world.rowCounts();
  return { events, outbox };
};

test("an event and its outbox rows commit together, and a failed transaction stores neither", async () => {
  const sink = await world.sink();
  await world.endpoint(sink, [...EVENT_TYPES]);
  await world.endpoint(sink, [...EVENT_TYPES]);
  const emailId = await world.sendByApi();
  const before = await counts();
  expect(before).toEqual({ events: 1, outbox: 2 });
  const breaking = world.deps.hot.begin(async (tx) => {
    await tx`
      insert into email_events (id, team_id, email_id, type, recipient)
      values (${newId()}, ${world.id}, ${emailId}, 'email.delivered', 'ben@example.net')`;
    const [row] = await tx`select count(*)::int as n from webhook_deliveries`;
    expect(row?.n).toBe(4);
    throw new Broken();
  });
  await expect(breaking).rejects.toThrow(Broken);
  expect(await counts()).toEqual(before);

  await world.sendDue();
  const after = await counts();
  expect(after.outbox).toBe(2 * (after.events ?? 0));
});

test("an event of a service commits or rolls back with its change", async () => {
  const sink = await world.sink();
  await world.endpoint(sink, ["suppression.added"]);
  await world.endpoint(sink, ["suppression.removed"]);
  const data = { id: newId(), email: "ben@example.net", origin: "manual", source_id: null };
  const change = (fails: boolean) =>
    world.deps.db.transaction(async (tx) => {
      await announce({ ...world.ctx, db: tx }, "suppression.added", data);
      if (fails) throw new Broken();
    });
  await expect(change(true)).rejects.toThrow(Broken);
  expect((await counts()).outbox).toBe(0);
  await change(false);
  await world.sendDue();
  expect(sink.received.map(({ body }) => JSON.parse(body))).toEqual([
    { type: "suppression.added", created_at: expect.any(String), data },
  ]);
});

test("an endpoint gets no events of other teams, and a disabled endpoint gets none", async () => {
  const sink = await world.sink();
  const other = await world.otherTeam();
  const { token } = await other.key();
  const body = { endpoint: `http://127.0.0.1:${sink.port}/`, events: [...EVENT_TYPES] };
  expect((await world.api("POST", "/api/webhooks", { token, body })).status).toBe(201);
  const { id } = await world.endpoint(sink, [...EVENT_TYPES]);
  await world.ok("PATCH", `/api/webhooks/${id}`, { status: "disabled" });
  await world.sendByApi();
  await world.sendDue();
  expect((await counts()).outbox).toBe(0);
  expect(sink.received).toEqual([]);
});

test("the body is stored before the first attempt and does not change with the email", async () => {
  const sink = await world.sink((_, nth) => (nth === 1 ? 500 : 200));
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  const emailId = await world.sendByApi();
  await world.sendDue();
  await world.deps.hot`update emails set subject = 'Changed' where id = ${emailId}`;
  await world.elapse("1 minute");
  await world.sendDue();
  expect(sink.received.map(({ body }) => JSON.parse(body).data.subject)).toEqual(["Hello", "Hello"]);
  const [row] = await world.eventsOf(id);
  const event = await world.ok("GET", `/api/webhooks/${id}/events/${row?.id}`);
  expect(event.payload).toEqual(JSON.parse(sink.received[0]?.body ?? ""));
});

test("an event whose email was deleted before the first attempt fails and delays nothing", async () => {
  const sink = await world.sink();
  const { id } = await world.endpoint(sink, ["email.queued"]);
  const emailId = await world.sendByApi();
  await world.deps.hot`delete from emails where id = ${emailId}`;
  await world.sendByApi();
  await world.sendDue();
  expect((await world.eventsOf(id)).map(({ status }) => status)).toEqual(["failed", "success"]);
  expect(sink.received).toHaveLength(1);
});

test("secrets are stored as ciphertext that is bound to its row", async () => {
  const { id, secret } = await world.endpoint("https://example.com/a", ["email.sent"]);
  await world.ok("POST", `/api/webhooks/${id}/signing-secret/rotate`);
  const other = await world.endpoint("https://example.com/b", ["email.sent"]);
  const [row] = await world.deps.hot<Record<string, string>[]>`
    select string_agg(w::text, ' ') as text from webhooks w`;
  expect(row?.text).not.toContain("whsec_");
  expect(row?.text).not.toContain(secret.slice("whsec_".length));
  await world.deps.hot`
    update webhooks set secret = (select secret from webhooks where id = ${other.id}) where id = ${id}`;
  const reply = await world.api("GET", `/api/webhooks/${id}`, { token: world.token });
  expect(reply.status).toBe(500);
  expect(reply.text).not.toContain("whsec_");
});

test("accepting an email and recording its result succeed while an endpoint is being deleted", async () => {
  const sink = await world.sink();
  const deleteWhile = async (id: string, act: () => Promise<unknown>) => {
    let acting: Promise<unknown> = Promise.resolve();
    await world.deps.hot.begin(async (tx) => {
      await tx`delete from webhooks where id = ${id}`;
      acting = act();
      acting.catch(() => {});
      await expect.poll(waitingForLocks, { timeout: 20_000 }).toBeGreaterThan(0);
    });
    await acting;
  };
  const waitingForLocks = async () => {
    const rows = await world.deps.hot`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length;
  };
  const first = await world.endpoint(sink, ["email.queued"]);
  await deleteWhile(first.id, () => world.sendByApi());
  const second = await world.endpoint(sink, ["email.sent", "email.delivered"]);
  await deleteWhile(second.id, () => world.sendDue());
  expect(await world.deps.hot`select status from deliveries`).toEqual([{ status: "delivered" }]);
  expect((await counts()).outbox).toBe(0);
});
