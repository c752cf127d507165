import { describe, expect, test } from "vitest";
import { webhookDeliveries } from "#db/schema/webhooks";
import { newId } from "#server/platform/ids";
import type { WebhookDeliveryView } from "#server/trpc/webhooks/webhooks";
import { openWebhookApp } from "./webhook-app";

const { console, ann, asAdmin, endpoint, get, deliveries, round, sendTest } = await openWebhookApp();

describe("an event delivery", () => {
  test("shows the exact request, the response as text, and that it succeeded", async () => {
    const answer = `<script>alert(1)</script>\n"ok"`;
    const { id, sink } = await endpoint(() => ({ status: 200, body: answer }));
    const { id: event } = await sendTest(id);
    expect(await get(id)).toMatchObject({ waiting: 1, lastResponse: null });
    await round();
    const [received] = sink.received;
    const delivery = await asAdmin<WebhookDeliveryView>("delivery", { id, event });
    expect(delivery).toMatchObject({
      status: "success",
      attempts: 1,
      next_attempt_at: null,
      isPayloadFixed: true,
    });
    expect(JSON.stringify(delivery.payload)).toBe(received?.body);
    expect(delivery.attemptPage.rows).toMatchObject([
      { number: 1, http_status_code: 200, fault: null, response: answer, next_attempt_at: null },
    ]);
    const [attempt] = delivery.attemptPage.rows;
    for (const [name, value] of Object.entries(attempt?.request.headers ?? {}))
      expect(received?.headers[name]).toBe(value);
    expect(await get(id)).toMatchObject({
      status: "enabled",
      failing_since: null,
      pausedUntil: null,
      waiting: 0,
      lastResponse: { http_status_code: 200, fault: null },
    });
  });

  test("that failed shows its next attempt, and its endpoint is shown as failing", async () => {
    const { id } = await endpoint(() => ({ status: 500, body: "x".repeat(20_000) }));
    const { id: event } = await sendTest(id);
    await round();
    const delivery = await asAdmin<WebhookDeliveryView>("delivery", { id, event });
    expect(delivery).toMatchObject({ status: "pending", attempts: 1, next_attempt_at: expect.any(String) });
    expect(delivery.attemptPage.rows[0]?.next_attempt_at).toBe(delivery.next_attempt_at);
    expect(delivery.attemptPage.rows[0]?.response).toHaveLength(16 * 1024);
    const failing = await get(id);
    expect(failing).toMatchObject({
      failing_since: expect.any(String),
      failures: 1,
      failed: 0,
      waiting: 1,
      lastResponse: { http_status_code: 500 },
    });
    const days = Date.parse(failing.disablesAt ?? "") - Date.parse(failing.failing_since ?? "");
    expect(days).toBe(5 * 86_400_000);
  });

  test("that was rejected stays the last response, however many newer events were never attempted", async () => {
    const { id } = await endpoint(() => ({ status: 503 }));
    await sendTest(id);
    await round();
    for (const status of ["pending", "failed"])
      await console.world.hot`
        insert into webhook_deliveries (id, team_id, webhook_id, type, status, due_at)
        select uuid_v7(), ${ann.teamId}, ${id}, 'email.sent', ${status}, now() + interval '1 day'
        from generate_series(1, 60)`;
    expect(await get(id)).toMatchObject({
      waiting: 61,
      lastResponse: { http_status_code: 503, fault: null },
    });
    await console.world
      .hot`update webhooks set url = 'http://127.0.0.1:1/closed', paused_until = null where id = ${id}`;
    await console.world.hot`
      update webhook_deliveries set due_at = now() - interval '1 second' where id in (
        select id from webhook_deliveries where webhook_id = ${id} and status = 'pending' order by id limit 1)`;
    await round();
    expect(await get(id)).toMatchObject({ lastResponse: { http_status_code: null, fault: "refused" } });
  });

  test("can be filtered by state and event, and is paged by id", async () => {
    const { id } = await endpoint(() => 204, ["email.delivered", "email.bounced"]);
    for (const type of ["email.delivered", "email.bounced", "email.delivered"])
      await asAdmin("test", { id, type });
    await round();
    expect(await deliveries(id, { type: "email.bounced" })).toHaveLength(1);
    expect(await deliveries(id, { status: "success" })).toHaveLength(3);
    expect(await deliveries(id, { status: "failed" })).toEqual([]);
    const [newest, ...older] = await deliveries(id);
    expect(await deliveries(id, { after: newest?.id })).toEqual(older);
  });
});

describe("a replay", () => {
  /** Event deliveries for a replay: id and age in minutes. */
  async function history(
    id: string,
    rows: { status: "failed" | "pending" | "success"; minutesAgo: number; type?: string }[],
  ) {
    const nowMs = Date.now();
    return Promise.all(
      rows.map(async ({ status, minutesAgo, type = "email.delivered" }) => {
        const eventId = newId();
        await console.deps.db.insert(webhookDeliveries).values({
          id: eventId,
          teamId: ann.teamId,
          webhookId: id,
          type,
          payload: "{}",
          status,
          attempts: 8,
          createdAt: new Date(nowMs - minutesAgo * 60_000),
          dueAt: new Date(nowMs + (status === "pending" ? 3_600_000 : -minutesAgo * 60_000)),
        });
        return eventId;
      }),
    );
  }
  const range = (minutesAgo: [since: number, until: number], more: object = {}) => ({
    since: new Date(Date.now() - minutesAgo[0] * 60_000).toISOString(),
    until: new Date(Date.now() - minutesAgo[1] * 60_000).toISOString(),
    status: "failed",
    type: null,
    ...more,
  });

  test("of a range sends exactly the counted events, each once", async () => {
    const { id, sink } = await endpoint(() => 204, ["email.delivered", "email.bounced"]);
    const ids = await history(id, [
      { status: "failed", minutesAgo: 90 },
      { status: "failed", minutesAgo: 50 },
      { status: "success", minutesAgo: 45 },
      { status: "failed", minutesAgo: 40, type: "email.bounced" },
      { status: "failed", minutesAgo: 5 },
    ]);
    const input = { id, ...range([60, 10]) };
    expect(await asAdmin("countRange", input)).toEqual({ count: 2, isAtLeast: false });
    expect(await asAdmin("countRange", { ...input, type: "email.bounced" })).toMatchObject({ count: 1 });
    expect(await asAdmin("countRange", { ...input, status: "success" })).toMatchObject({ count: 1 });
    expect(await asAdmin("replayRange", input)).toEqual({ count: 2, next: null });
    await round();
    expect(sink.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual([ids[1], ids[3]].sort());
    expect(await asAdmin("countRange", input)).toMatchObject({ count: 0 });
    const actions = (await ann.audit({ subject: id })).map(({ action }) => action);
    expect(actions).toEqual(["webhook.created", "webhook.replayed"]);
  });

  test("of a range includes its pending events if the user chooses so", async () => {
    const { id, sink } = await endpoint();
    const ids = await history(id, [
      { status: "failed", minutesAgo: 50 },
      { status: "pending", minutesAgo: 40 },
      { status: "success", minutesAgo: 30 },
      { status: "pending", minutesAgo: 5 },
    ]);
    expect(await asAdmin("countRange", { id, ...range([60, 10]) })).toMatchObject({ count: 1 });
    const input = { id, ...range([60, 10], { status: "unfinished" }) };
    expect(await asAdmin("countRange", input)).toMatchObject({ count: 2 });
    expect(await asAdmin("replayRange", input)).toEqual({ count: 2, next: null });
    // A call for the next ones does not find those that are due already.
    expect(await asAdmin("replayRange", input)).toEqual({ count: 0, next: null });
    await round();
    expect(sink.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual([ids[0], ids[1]].sort());
    expect(await deliveries(id, { status: "pending" })).toMatchObject([{ id: ids[3], attempts: 8 }]);
  });
});

describe("during secret rotation", () => {
  test("the page shows until when two secrets sign", async () => {
    const { id } = await endpoint();
    expect(await get(id)).toMatchObject({ previousUntil: null });
    await asAdmin("rotate", { id });
    const { previousUntil } = await get(id);
    expect(Date.parse(previousUntil ?? "") - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });
});

test("an endpoint keeps event types that the console does not offer", async () => {
  const { id, url } = await endpoint(() => 204, ["email.delivered", "contact.created"]);
  await asAdmin("update", { id, url, events: ["email.bounced", "contact.created"] });
  expect(await get(id)).toMatchObject({ events: ["email.bounced", "contact.created"] });
});

test("emails with unknown outcome are counted, with the subscribed endpoints", async () => {
  const countUnknown = () => asAdmin<Record<string, unknown>>("heldUnknown");
  expect(await countUnknown()).toEqual({ emails: 0, isAtLeast: false, policy: "retry", isSubscribed: false });
  const { id } = await console.world.send(
    { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"] },
    ann.ctx,
  );
  await console.world.hot`update emails set status = 'unknown' where id = ${id}`;
  const { id: endpointId } = await endpoint(() => 204, ["email.unknown"]);
  expect(await countUnknown()).toMatchObject({ emails: 1, isSubscribed: true });
  await asAdmin("update", { id: endpointId, status: "disabled" });
  expect(await countUnknown()).toMatchObject({ emails: 1, isSubscribed: false });
});
