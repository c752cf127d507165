import { expect, test } from "vitest";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { listEmailEventDeliveries } from "#server/services/webhooks/events/email-deliveries";
import { forEachTest } from "../../support/fixtures";
import { createWebhookWorld } from "../../support/webhook-world";

const shownMax = 200;

const world = forEachTest(() => createWebhookWorld());

const list = (emailId: string, ctx: Ctx = world.ctx) => listEmailEventDeliveries(ctx, emailId);

test("the deliveries of all endpoints are in the order of the events, each with its last attempt", async () => {
  let status = 500;
  const [slow, fast] = [await world.sink(() => status), await world.sink(() => 204)];
  const events = ["email.sent", "email.delivered"];
  const failing = await world.endpoint(slow, events);
  const working = await world.endpoint(fast, events);
  const id = await world.sendByApi();
  await world.sendByApi();
  await world.round();
  const failed = (await list(id)).rows.filter(({ webhookId }) => webhookId === failing.id);
  expect(failed).toMatchObject(Array(2).fill({ status: "pending", last: { statusCode: 500 } }));
  status = 200;
  await world.elapse("5 min");
  await world.round();
  const { rows, hasMore } = await list(id);
  expect(hasMore).toBe(false);
  expect(rows.map((row) => row.id)).toEqual(rows.map((row) => row.id).sort());
  expect(rows.map(({ type }) => type)).toEqual([
    ...["email.sent", "email.sent", "email.delivered", "email.delivered"],
  ]);
  for (const type of events) {
    const ofEvent = rows.filter((row) => row.type === type);
    expect(new Set(ofEvent.map(({ eventId }) => eventId)).size).toBe(1);
    expect(new Map(ofEvent.map((row) => [row.webhookId, row]))).toMatchObject(
      new Map([
        [failing.id, { status: "success", last: { statusCode: 200, fault: null } }],
        [working.id, { status: "success", last: { statusCode: 204, fault: null } }],
      ]),
    );
  }
});

test("only the first 200 are returned, and that more exist", async () => {
  const { id: webhookId } = await world.endpoint("https://hooks.example/", ["email.opened"]);
  const id = await world.sendByApi();
  const ids = Array.from({ length: shownMax + 1 }, () => newId());
  const insert = (added: string[]) => world.hot`
    insert into webhook_deliveries (id, team_id, webhook_id, type, email_id)
    select unnest(${added}::uuid[]), ${world.id}, ${webhookId}, 'email.opened', ${id}`;
  await insert(ids.slice(0, shownMax));
  const all = await list(id);
  expect(all.hasMore).toBe(false);
  expect(all.rows.map(({ last }) => last)).toEqual(Array(shownMax).fill(null));
  await insert(ids.slice(shownMax));
  const { rows, hasMore } = await list(id);
  expect(rows.map((row) => row.id)).toEqual(ids.slice(0, shownMax));
  expect(hasMore).toBe(true);
});

test("an email of another team has none", async () => {
  await world.endpoint(await world.sink(() => 204), ["email.delivered"]);
  const id = await world.sendByApi();
  await world.round();
  expect((await list(id)).rows).toHaveLength(1);
  const other = await world.otherTeam();
  for (const email of [id, newId(), "nothing"])
    expect(await list(email, other.ctx)).toEqual({ rows: [], hasMore: false });
});
