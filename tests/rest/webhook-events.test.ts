import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { forAllTests } from "../support/fixtures";
import { rejected } from "../support/rejected";
import { createWebhookWorld } from "../support/webhook-world";

const world = forAllTests(() => createWebhookWorld());
// Events of other tests must not be sent to the endpoints of this one, nor counted.
beforeEach(async () => {
  await world.hot`delete from emails`;
  await world.hot`delete from webhook_deliveries`;
  await world.hot`delete from webhooks`;
});

const ENDPOINT = "https://example.com/hooks";
const call = (method: string, path: string, body?: unknown) =>
  world.api(method, path, { token: world.token, body });

describe("event deliveries of an endpoint", () => {
  async function createThreeOutcomes() {
    const sink = await world.sink((_, nth) => (nth === 1 ? 200 : 500));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    await world.sendByApi();
    await world.sendDue();
    await world.hot`update webhook_deliveries set status = 'failed' where status = 'pending'`;
    await world.sendByApi();
    await world.sendDue();
    return { id, sink };
  }

  test("can be listed and filtered by status, and contain the payload as sent", async () => {
    const { id, sink } = await createThreeOutcomes();
    const list = await world.ok("GET", `/api/webhooks/${id}/events`);
    expect(list).toMatchObject({
      object: "list",
      has_more: false,
      data: [
        { type: "email.delivered", status: "pending", next_attempt_at: expect.any(String) },
        { status: "failed", next_attempt_at: null },
        { status: "success", next_attempt_at: null },
      ],
    });
    const byStatus = await world.ok("GET", `/api/webhooks/${id}/events?status=failed&type=email.delivered`);
    expect(byStatus.data).toHaveLength(1);
    expect((await world.ok("GET", `/api/webhooks/${id}/events?type=email.sent`)).data).toEqual([]);
    const [first] = (await world.eventsOf(id)).slice(0, 1);
    const event = await world.ok("GET", `/api/webhooks/${id}/events/${first?.id}`);
    expect(event).toMatchObject({
      object: "webhook_event",
      id: first?.id,
      type: "email.delivered",
      status: "success",
      next_attempt_at: null,
      payload: JSON.parse(sink.received[0]?.body ?? ""),
    });
    const attempts = await world.ok("GET", `/api/webhooks/${id}/events/${first?.id}/attempts`);
    expect(attempts).toMatchObject({
      object: "list",
      has_more: false,
      data: [
        {
          id: expect.any(String),
          number: 1,
          http_status_code: 200,
          response: "",
          fault: null,
          sent_at: expect.stringMatching(/Z$/),
          request: { url: `http://127.0.0.1:${sink.port}/hooks` },
        },
      ],
    });
  });

  test("contain the payload before the first attempt", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.queued"]);
    const emailId = await world.sendByApi();
    const [delivery] = await world.eventsOf(id);
    const event = await world.ok("GET", `/api/webhooks/${id}/events/${delivery?.id}`);
    expect(event).toMatchObject({
      status: "pending",
      email_id: emailId,
      payload: { type: "email.queued", data: { email_id: emailId, sequence: 1 } },
    });
  });

  test("are found only below their own endpoint", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.queued"]);
    await world.sendByApi();
    const [delivery] = await world.eventsOf(id);
    const other = await world.endpoint(ENDPOINT, ["email.sent"]);
    for (const path of [
      `/api/webhooks/${other.id}/events/${delivery?.id}`,
      `/api/webhooks/${other.id}/events/${delivery?.id}/attempts`,
      `/api/webhooks/${id}/events/${newId()}`,
      `/api/webhooks/${newId()}/events`,
    ])
      expect((await call("GET", path)).status).toBe(404);
    expect((await call("POST", `/api/webhooks/${other.id}/events/${delivery?.id}/replay`)).status).toBe(404);
    expect((await call("GET", `/api/webhooks/${id}/events/nonsense`)).status).toBe(422);
    expect((await call("GET", `/api/webhooks/${id}/events?status=lost`)).status).toBe(422);
  });
});

describe("replay", () => {
  test("of one event sends the same id and payload again, with a new retry schedule", async () => {
    const sink = await world.sink((_, nth) => (nth === 1 ? 500 : 200));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    await world.hot`update webhook_deliveries set status = 'failed' where attempts = 1`;
    const [delivery] = await world.eventsOf(id);
    const replayed = await world.ok("POST", `/api/webhooks/${id}/events/${delivery?.id}/replay`);
    expect(replayed).toEqual({ object: "webhook_event", id: delivery?.id });
    expect((await world.eventsOf(id))[0]).toMatchObject({ status: "pending", attempts: 0 });
    await world.sendDue();
    expect(sink.received).toHaveLength(2);
    expect(new Set(sink.received.map(({ headers, body }) => `${headers["svix-id"]} ${body}`)).size).toBe(1);
    const [again] = await world.eventsOf(id);
    expect(again).toMatchObject({ status: "success", attempts: 1 });
    expect(again?.attempts_made.map(({ number }) => number)).toEqual([1, 2]);
    // A successful event delivery can be replayed too.
    await world.ok("POST", `/api/webhooks/${id}/events/${delivery?.id}/replay`);
    await world.sendDue();
    expect(sink.received).toHaveLength(3);
  });

  test("of an event delivery in progress is rejected", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.queued"]);
    await world.sendByApi();
    await world.hot`update webhook_deliveries set status = 'attempting', leased_until = now() + interval '1 min'`;
    const [delivery] = await world.eventsOf(id);
    expect(await call("POST", `/api/webhooks/${id}/events/${delivery?.id}/replay`)).toMatchObject(
      rejected(409, /being sent/),
    );
  });

  test("of a time range replays only the failed event deliveries", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.queued", "email.delivered"]);
    for (let n = 0; n < 4; n++) await world.sendByApi();
    const events = await world.eventsOf(id);
    const at = (n: number) => `2026-03-0${n}T12:00:00.000Z`;
    for (const [index, { id: event }] of events.entries())
      await world.hot`
        update webhook_deliveries set status = ${index === 1 ? "success" : "failed"}, created_at = ${at(index + 1)}
        where id = ${event}`;
    const replay = (body: Record<string, unknown>) => world.ok("POST", `/api/webhooks/${id}/replay`, body);
    expect(await replay({ since: at(1), until: at(4) })).toEqual({
      object: "webhook_replay",
      webhook_id: id,
      count: 2,
      has_more: false,
      next_since: null,
    });
    expect((await world.eventsOf(id)).map(({ status }) => status)).toEqual([
      "pending",
      "success",
      "pending",
      "failed",
    ]);
    expect(await replay({ since: at(1), until: at(4) })).toMatchObject({ count: 0 });
    expect(await replay({ since: at(1), status: "success" })).toMatchObject({ count: 1 });
    expect(await replay({ since: at(1), type: "email.delivered" })).toMatchObject({ count: 0 });
    expect(await replay({ since: at(4), type: "email.queued" })).toMatchObject({ count: 1 });
  });

  test("of more events than one call handles continues at `next_since`", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.queued"]);
    await world.hot`
      insert into webhook_deliveries (id, team_id, webhook_id, type, payload, status, created_at)
      select uuid_v7(), team_id, id, 'email.queued', '{}', 'failed', '2026-03-01T00:00:00Z'::timestamptz + n * interval '1 s'
      from webhooks, generate_series(1, 5100) as n`;
    const first = await world.ok("POST", `/api/webhooks/${id}/replay`, { since: "2026-03-01T00:00:00Z" });
    expect(first).toMatchObject({ count: 5_000, has_more: true, next_since: "2026-03-01T01:23:21.000Z" });
    const second = await world.ok("POST", `/api/webhooks/${id}/replay`, { since: first.next_since });
    expect(second).toMatchObject({ count: 100, has_more: false });
    // Each request is a replay of its own range.
    const entries =
      await world.hot`select detail from audit_log where action = 'webhook.replayed' and subject_id = ${id} order by id`;
    expect(entries.map(({ detail }) => [detail.since, detail.count])).toEqual([
      ["2026-03-01T00:00:00.000Z", 5_000],
      ["2026-03-01T01:23:21.000Z", 100],
    ]);
  });

  test("without a valid range and filter is rejected", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.queued"]);
    for (const [body, message] of [
      [{}, /`since`/],
      [{ since: "yesterday" }, /`since`/],
      [{ since: "2026-03-02T00:00:00Z", until: "2026-03-01T00:00:00Z" }, /`until`/],
      [{ since: "2026-03-01T00:00:00Z", status: "pending" }, /`status`/],
      [{ since: "2026-03-01T00:00:00Z", type: "email.nothing" }, /`type`/],
    ] as const)
      expect(await call("POST", `/api/webhooks/${id}/replay`, body)).toMatchObject(rejected(422, message));
  });
});

describe("a test event", () => {
  test("is sent like every other, marked as a test, with the payload of its type", async () => {
    const sink = await world.sink();
    const events = [
      "email.bounced",
      "email.suppressed",
      "domain.updated",
      "suppression.added",
      "email.opened",
    ];
    const { id } = await world.endpoint(sink, events);
    const sent = await call("POST", `/api/webhooks/${id}/test`);
    expect(sent.status).toBe(201);
    expect(sent.body).toEqual({ object: "webhook_event", id: expect.any(String), type: "email.bounced" });
    for (const type of events.slice(1)) await world.ok("POST", `/api/webhooks/${id}/test?type=${type}`);
    await world.sendDue();
    const bodies = sink.received.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ type }) => type).sort()).toEqual([...events].sort());
    expect(bodies.every(({ data }) => data.test === true)).toBe(true);
    expect(bodies.find(({ type }) => type === "email.bounced").data).toMatchObject({
      to: ["ben@example.com"],
      bounce: { type: "Permanent", subType: "NoEmail" },
    });
    expect(bodies.find(({ type }) => type === "email.suppressed").data.suppressed.reason).toBe(
      "previous_bounce",
    );
    expect(await world.eventsOf(id)).toHaveLength(5);
  });

  test("has a type to which the endpoint subscribes", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.sent"]);
    expect(await call("POST", `/api/webhooks/${id}/test?type=email.bounced`)).toMatchObject(
      rejected(422, /email\.sent/),
    );
    expect((await call("POST", `/api/webhooks/${id}/test?type=nothing`)).status).toBe(422);
  });
});

test("a disabled endpoint rejects tests and replays, and the error names the solution", async () => {
  const { id } = await world.endpoint(ENDPOINT, ["email.queued"]);
  await world.sendByApi();
  const [delivery] = await world.eventsOf(id);
  await world.ok("PATCH", `/api/webhooks/${id}`, { status: "disabled" });
  for (const [path, body] of [
    [`/api/webhooks/${id}/test`, undefined],
    [`/api/webhooks/${id}/events/${delivery?.id}/replay`, undefined],
    [`/api/webhooks/${id}/replay`, { since: "2026-03-01T00:00:00Z" }],
  ] as const) {
    expect(await call("POST", path, body)).toMatchObject(rejected(409, /Enable it first/));
  }
});
