import { beforeEach, describe, expect, test } from "vitest";
import { WEBHOOK_EVENTS } from "#server/services/webhooks/events/types";
import { forAllTests } from "../support/fixtures";
import { createWebhookWorld } from "../support/webhook-world";

const world = forAllTests(() => createWebhookWorld());
beforeEach(async () => {
  await world.hot`delete from webhooks`;
});

const ENDPOINT = "https://example.com/hooks";
const call = (method: string, path: string, body?: unknown) =>
  world.api(method, path, { token: world.token, body });
const create = (body: unknown) => call("POST", "/api/webhooks", body);

describe("endpoints", () => {
  test("can be created, read, updated and deleted in the shapes of Resend", async () => {
    const created = await create({
      endpoint: ENDPOINT,
      events: ["email.sent", "email.bounced", "email.sent"],
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      object: "webhook",
      id: expect.any(String),
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const { id, signing_secret } = created.body;
    const summary = {
      id,
      endpoint: ENDPOINT,
      events: ["email.sent", "email.bounced"],
      status: "enabled",
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject({
      object: "webhook",
      ...summary,
      signing_secret,
    });
    const list = await world.ok("GET", "/api/webhooks");
    expect(list).toMatchObject({ object: "list", has_more: false, data: [summary] });
    expect(JSON.stringify(list)).not.toContain("whsec_");
    const change = { events: ["email.delivered"], status: "disabled", endpoint: `${ENDPOINT}/2` };
    expect(await world.ok("PATCH", `/api/webhooks/${id}`, change)).toEqual({ object: "webhook", id });
    expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject(change);
    // Omitted or empty fields do not change.
    await world.ok("PATCH", `/api/webhooks/${id}`, { events: [], endpoint: null });
    expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject(change);
    expect(await world.ok("DELETE", `/api/webhooks/${id}`)).toEqual({ object: "webhook", id, deleted: true });
    expect((await call("GET", `/api/webhooks/${id}`)).status).toBe(404);
    expect((await call("DELETE", `/api/webhooks/${id}`)).status).toBe(404);
  });

  test("can subscribe to every known event, and is warned about those that never occur", async () => {
    const created = await create({ endpoint: ENDPOINT, events: WEBHOOK_EVENTS });
    expect(created.status).toBe(201);
    const path = `/api/webhooks/${created.body.id}`;
    const shown = await world.ok("GET", path);
    expect(shown.events).toEqual([...WEBHOOK_EVENTS]);
    const [warning] = created.body.warnings as string[];
    for (const name of ["contact.created", "inbox.draft.sent"]) expect(warning).toContain(name);
    expect(warning).not.toMatch(/email\.unknown|receives nothing/);
    expect(shown.warnings).toEqual([warning]);
    expect((await call("PATCH", path, { events: ["email.received"] })).body.warnings).toMatchObject([
      expect.stringContaining("receives nothing"),
    ]);
    expect((await call("PATCH", path, { events: ["email.sent"] })).body).not.toHaveProperty("warnings");
  });

  test.each([
    [{ events: ["email.sent"] }, "missing_required_field", /`endpoint`/],
    [{ endpoint: ENDPOINT }, "missing_required_field", /`events`/],
    [{ endpoint: ENDPOINT, events: "email.sent" }, "validation_error", /`events`/],
    [{ endpoint: ENDPOINT, events: ["email.snet"] }, "validation_error", /Unknown event "email.snet"/],
    [{ endpoint: "example.com", events: ["email.sent"] }, "validation_error", /`endpoint`/],
    [{ endpoint: "http://example.com/", events: ["email.sent"] }, null, null],
    [{ endpoint: "https://10.0.0.1/", events: ["email.sent"] }, "validation_error", /BACKSTAMP_EGRESS_ALLOW/],
    [{ endpoint: "https://[::1]/", events: ["email.sent"] }, "validation_error", /public Internet/],
    [{ endpoint: "https://u:p@example.com/", events: ["email.sent"] }, "validation_error", /password/],
    [
      { endpoint: `https://example.com/${"a".repeat(3_000)}`, events: ["email.sent"] },
      "validation_error",
      /2048/,
    ],
    [{ endpoint: ENDPOINT, events: ["email.sent"], secret: "x" }, "validation_error", /`secret`/],
  ])("%j is rejected with the name of the field, or accepted", async (body, name, message) => {
    const reply = await create(body);
    // The operator allows local addresses in this test, so http is checked only when the endpoint is called.
    if (name === null) return expect(reply.status).toBe(201);
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ name, message: expect.stringMatching(message ?? /./) });
    expect((await world.rowCounts()).webhooks).toBe(0);
  });

  test("cannot be changed to values that are invalid on creation", async () => {
    const { id } = await world.endpoint(ENDPOINT, ["email.sent"]);
    for (const body of [
      { endpoint: "https://127.0.0.1.nip.io:99999/" },
      { endpoint: "https://192.168.0.1/" },
      { events: ["nothing"] },
      { status: "paused" },
    ])
      expect((await call("PATCH", `/api/webhooks/${id}`, body)).status).toBe(422);
    expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject({
      endpoint: ENDPOINT,
      events: ["email.sent"],
      status: "enabled",
    });
  });

  test("return their secrets only to keys with webhooks:write", async () => {
    const { id, secret } = await world.endpoint(ENDPOINT, ["email.sent"]);
    await world.ok("POST", `/api/webhooks/${id}/signing-secret/rotate`);
    const reader = await world.key({ scopes: ["webhooks:read"] });
    const response = await world.api("GET", `/api/webhooks/${id}`, { token: reader.token });
    expect(response.status).toBe(200);
    expect(response.text).not.toContain("whsec_");
    expect(Object.keys(response.body).filter((name) => name.includes("secret"))).toEqual([]);
    expect(JSON.stringify(await world.ok("GET", `/api/webhooks/${id}`))).toContain(secret);
  });
});
