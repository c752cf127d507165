import { describe, expect, test } from "vitest";
import { createWebhookEngine } from "#server/delivery/webhooks/engine";
import { failuresMin } from "#server/services/webhooks/endpoint-state";
import { forEachTest } from "../../support/fixtures";
import { createWebhookWorld } from "../../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());

const endpointOf = (id: string) => world.ok("GET", `/api/webhooks/${id}`);
const typesOf = (bodies: { body: string }[]) => bodies.map(({ body }) => JSON.parse(body).type);

describe("410", () => {
  test("disables the endpoint immediately, notifies other endpoints, and sends nothing more", async () => {
    const gone = await world.sink(() => 410);
    const other = await world.sink();
    const { id } = await world.endpoint(gone, ["email.delivered", "webhook.disabled"]);
    await world.endpoint(other, ["webhook.disabled"]);
    await world.sendByApi();
    await world.sendDue();
    expect(await endpointOf(id)).toMatchObject({ status: "disabled", disabled_reason: "gone" });
    expect(await world.eventsOf(id)).toMatchObject([
      { status: "failed", attempts_made: [{ http_status_code: 410, next_attempt_at: null }] },
    ]);
    expect(other.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        type: "webhook.disabled",
        data: { id, endpoint: `http://127.0.0.1:${gone.port}/hooks`, disabled_reason: "gone" },
      },
    ]);

    await world.sendByApi();
    await world.elapse("2 days");
    await world.sendDue();
    expect(gone.received).toHaveLength(1);
  });

  test("from a previous URL does not affect the current one", async () => {
    const old = await world.sink(async () => {
      await world.ok("PATCH", `/api/webhooks/${id}`, { endpoint: `http://127.0.0.1:${fresh.port}/` });
      return 410;
    });
    const fresh = await world.sink();
    const { id } = await world.endpoint(old, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    expect(await endpointOf(id)).toMatchObject({ status: "enabled", failing_since: null });
  });
});

describe("days of failures", () => {
  /** As many failed attempts as are necessary, without a success between them. */
  const failOften = () => world.hot`update webhooks set failures = ${failuresMin} where failures > 0`;
  const attemptOnce = async () => {
    await world.sendByApi();
    await world.sendDue();
  };

  test("disable after five days without a success, and not before", async () => {
    const sink = await world.sink(() => 500);
    const other = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.endpoint(other, ["webhook.disabled"]);
    await attemptOnce();
    await failOften();
    await world.elapse("4 days 23 hours");
    await attemptOnce();
    expect(await endpointOf(id)).toMatchObject({ status: "enabled", failing_since: expect.any(String) });
    await world.elapse("2 hours");
    await attemptOnce();
    expect(await endpointOf(id)).toMatchObject({ status: "disabled", disabled_reason: "failing" });
    await world.sendDue();
    expect(typesOf(other.received)).toEqual(["webhook.disabled"]);
    const calls = sink.received.length;
    await world.elapse("1 day");
    await world.sendDue();
    expect(sink.received).toHaveLength(calls);
  });

  test("do not disable with a success in between", async () => {
    let hasSuccess = false;
    const sink = await world.sink(() => (hasSuccess ? 200 : 500));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await attemptOnce();
    await failOften();
    await world.elapse("4 days");
    hasSuccess = true;
    await attemptOnce();
    expect(await endpointOf(id)).toMatchObject({ failing_since: null });
    hasSuccess = false;
    await attemptOnce();
    await failOften();
    await world.elapse("3 days");
    await attemptOnce();
    expect(await endpointOf(id)).toMatchObject({ status: "enabled" });
  });

  test("do not disable with few attempts: one, and others a week later", async () => {
    const sink = await world.sink(() => 500);
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await attemptOnce();
    await world.elapse("7 days");
    await attemptOnce();
    expect(await endpointOf(id)).toMatchObject({ status: "enabled" });
  });
});

describe("an overloaded endpoint", () => {
  test.each([
    [{ status: 429, headers: { "retry-after": "3600" } }, "50 minutes", "11 minutes"],
    [{ status: 504 }, "20 seconds", "11 seconds"],
  ])(
    "that responds %j is paused for all events for that time, and then resumes",
    async (reply, early, late) => {
      const sink = await world.sink((_, nth) => (nth === 1 ? reply : 200));
      await world.endpoint(sink, ["email.delivered"]);
      await world.sendByApi();
      await world.sendDue();
      for (let n = 0; n < 2; n++) await world.sendByApi();
      await world.sendDue();
      await world.elapse(early);
      await world.sendDue();
      expect(sink.received).toHaveLength(1);
      await world.elapse(late);
      for (let n = 0; n < 3; n++) await world.sendDue();
      expect(sink.received).toHaveLength(4);
    },
  );
});

describe("a member who disables an endpoint", () => {
  test("fails its pending events, stops new ones, and chooses which are replayed", async () => {
    const sink = await world.sink((_, nth) => (nth === 1 ? 500 : 200));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    await world.ok("PATCH", `/api/webhooks/${id}`, { status: "disabled" });
    await world.sendByApi();
    await world.elapse("1 hour");
    // Before the housekeeping fails what is pending.
    const engine = createWebhookEngine(world.worker);
    await engine.pump();
    await engine.drain(1_000);
    expect(sink.received).toHaveLength(1);
    await world.sendDue();
    expect(await world.eventsOf(id)).toMatchObject([{ status: "failed", attempts: 1 }]);
    expect(await endpointOf(id)).toMatchObject({ status: "disabled", disabled_reason: null });

    await world.ok("PATCH", `/api/webhooks/${id}`, { status: "enabled" });
    await world.elapse("1 day");
    await world.sendDue();
    expect(sink.received).toHaveLength(1);
    await world.sendByApi();
    await world.sendDue();
    expect(sink.received).toHaveLength(2);
  });

  test("and deletes it leaves no data", async () => {
    const sink = await world.sink(() => 500);
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    await world.ok("DELETE", `/api/webhooks/${id}`);
    await world.elapse("1 hour");
    await world.sendDue();
    expect(sink.received).toHaveLength(1);
    expect(await world.rowCounts()).toMatchObject({
      webhooks: 0,
      webhook_deliveries: 0,
      webhook_attempts: 0,
    });
  });
});
