import { describe, expect, test } from "vitest";
import { apiRequests } from "#db/schema/api-keys";
import { newId } from "#server/platform/ids";
import { SCOPES } from "#server/shared/scopes";
import { startMinute } from "../support/deps";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const { world, token, call } = await openTestApp();
for (const name of ["one.example.com", "two.example.com"]) await world.domain(name);

type Listed = Record<string, unknown> & { id: string; domains: { name: string }[] };

const create = (body: object, by = token) => call("POST", "/api/api-keys", body, by);
async function listed(id: unknown): Promise<Listed> {
  const { body } = await call("GET", "/api/api-keys");
  const found = (body.data as Listed[]).find((key) => key.id === id);
  if (!found) throw new Error("The key is not listed");
  return found;
}
const send = (by: string, domain: string) =>
  call(
    "POST",
    "/api/emails",
    { from: `a@${domain}`, to: "delivered@backstamp.test", subject: "x", html: "x" },
    by,
  );

describe("a new key", () => {
  test("returns its id and its token once, and has all permissions of the key that created it", async () => {
    const { status, body } = await create({ name: "app" });
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(String), token: expect.stringMatching(/^re_/) });
    const key = await listed(body.id);
    expect(key).toMatchObject({
      name: "app",
      scopes: [...SCOPES],
      all_domains: true,
      domains: [],
      limits: {},
      expires_at: null,
      last_used_at: null,
      rotated_from: null,
      recent_refusals: { unauthorized: 0, forbidden: 0, rate_limited: 0 },
    });
    const secret = String(body.token).split("_")[2] ?? "";
    expect(JSON.stringify(key)).not.toContain(secret);
    expect((await send(String(body.token), "one.example.com")).status).toBe(200);
    expect((await listed(body.id)).last_used_at).toEqual(expect.any(String));
  });

  test.each([
    ["permission", { permission: "sending_access" }, ["emails:send"]],
    ["scopes", { scopes: ["emails:send", "emails:read", "emails:send"] }, ["emails:send", "emails:read"]],
    ["a preset among scopes", { scopes: ["sending_access", "logs:read"] }, ["emails:send", "logs:read"]],
    ["full access by name", { permission: "full_access" }, [...SCOPES]],
  ])("has the scopes of %s", async (_, fields, scopes) => {
    const { body } = await create({ name: "app", ...fields });
    expect((await listed(body.id)).scopes).toEqual(scopes);
  });

  test("sends only from the domains linked by id or name", async () => {
    const { body: list } = await call("GET", "/api/domains");
    const one = (list.data as { id: string; name: string }[]).find(({ name }) => name === "one.example.com");
    const only = { permission: "sending_access" };
    for (const fields of [
      { domain_id: one?.id },
      { domainId: one?.id },
      { domain_id: "One.Example.com" },
      { domains: [one?.id, "backstamp.test"] },
    ]) {
      const { body } = await create({ name: "app", ...only, ...fields });
      expect((await listed(body.id)).domains).toContainEqual({ id: one?.id, name: "one.example.com" });
      expect((await send(String(body.token), "one.example.com")).status).toBe(200);
      expect((await send(String(body.token), "two.example.com")).status).toBe(403);
    }
  });

  test("has its own limits and its own expiry", async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const { body } = await create({
      name: "app",
      limits: { other: 2, "POST /api/emails": 1 },
      expires_at: expiresAt,
    });
    expect(await listed(body.id)).toMatchObject({
      limits: { other: 2, "POST /api/emails": 1 },
      expires_at: expiresAt,
    });
    const by = String(body.token);
    startMinute(world.clock);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await call("GET", "/api/domains", undefined, by)).status);
    expect(statuses).toEqual([200, 200, 429]);
    await world.elapse("1 hour");
    expect((await call("GET", "/api/domains", undefined, by)).status).toBe(401);
  });

  test("is rejected with an invalid field, and nothing is stored", async () => {
    const before = await world.rowCounts();
    for (const [body, message] of [
      [{}, /Missing `name`/],
      [{ name: "x".repeat(51) }, /50/],
      [{ name: "a\nb" }, /one line/],
      [{ name: "x", permission: "god" }, /full_access or sending_access/],
      [{ name: "x", scopes: [] }, /at least one/],
      [{ name: "x", scopes: ["emails:sned"] }, /Unknown scope "emails:sned"/],
      [{ name: "x", scopes: ["emails:send"], permission: "full_access" }, /not both/],
      [{ name: "x", domains: [] }, /at least one/],
      [{ name: "x", domain_id: "a.example.com", domains: ["b.example.com"] }, /not both/],
      [{ name: "x", expires_at: "tomorrow" }, /ISO 8601/],
      [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, /past/],
      [{ name: "x", limits: { other: 0 } }, /at least 1/],
      [{ name: "x", limits: { other: 1.5 } }, /whole number/],
      [{ name: "x", limits: { others: 1 } }, /`limits\.others`/],
      [{ name: "x", limits: { other: 61 } }, /at most 60.*operator/],
    ] as const) {
      const reply = await create(body);
      expect({ body, status: reply.status, message: reply.body.message }).toEqual({
        body,
        status: 422,
        message: expect.stringMatching(message),
      });
    }
    expect(await world.rowCounts()).toEqual(before);
  });

  test("for another team's domain is rejected like a missing domain, by id and by name", async () => {
    const other = await world.otherTeam();
    const foreign = await other.domain("foreign.example.com");
    const missing = "018f0000-0000-7000-8000-000000000000";
    const messages: unknown[] = [];
    for (const domain of [foreign.id, missing]) {
      const { status, body } = await create({ name: "x", domains: [domain] });
      expect(status).toBe(422);
      messages.push(String(body.message).replace(domain, "…"));
    }
    expect(messages[0]).toBe(messages[1]);
    expect((await create({ name: "x", domains: ["foreign.example.com"] })).status).toBe(422);
  });
});

describe("the number of keys", () => {
  test("that a family creates counts against one limit, and each of them keeps its own limits", async () => {
    const root = await world.key({ limits: { other: 5 } });
    const children: string[] = [];
    for (let count = 0; count < 4; count++) {
      const { status, body } = await create({ name: `child ${count}` }, root.token);
      expect(status).toBe(201);
      children.push(String(body.token));
    }
    const [child = "", sibling = ""] = children;
    const grandchild = await create({ name: "grandchild" }, child);
    expect(grandchild.status).toBe(201);
    const rejected = await Promise.all([
      create({ name: "one more" }, root.token),
      create({ name: "one more" }, sibling),
      create({ name: "one more" }, String(grandchild.body.token)),
      call("POST", `/api/api-keys/${grandchild.body.id}/rotate`, {}, sibling),
    ]);
    expect(rejected.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
    expect(rejected[1]?.body).toEqual({ error: "Rate limit exceeded", retryAfter: expect.any(Number) });
    expect((await call("GET", "/api/domains", undefined, sibling)).status).toBe(200);
    expect((await create({ name: "another family" })).status).toBe(201);
    world.clock.advance(120_000);
    expect((await create({ name: "later" }, sibling)).status).toBe(201);
  });

  test("of a team is limited, and a revoked or expired one gives its place back", async () => {
    const other = await world.otherTeam();
    const { id, token: own } = await other.key();
    await world.hot`
      insert into api_keys (id, team_id, name, token_id, secret_hash, scopes, expires_at)
      select gen_random_uuid(), ${other.id}, 'key ' || n, 'x', decode(md5(n::text), 'hex'), '{keys:read}',
        case when n <= 10 then now() - interval '1 minute' end
      from generate_series(1, 1009) as n`;
    expect(await create({ name: "one more" }, own)).toMatchObject(
      rejected(409, "at most 1000 valid API keys. Revoke an unused key first"),
    );
    expect((await call("POST", `/api/api-keys/${id}/rotate`, {}, own)).status).toBe(409);
    const [unused] = await world.hot<{ id: string }[]>`select id from api_keys where name = 'key 11'`;
    expect((await call("DELETE", `/api/api-keys/${unused?.id}`, undefined, own)).status).toBe(200);
    const both = await Promise.all([create({ name: "a" }, own), create({ name: "b" }, own)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await call("POST", `/api/api-keys/${id}/rotate`, { overlap_seconds: 0 }, own)).status).toBe(201);
  });
});

describe("a key of the team", () => {
  test("can be renamed, and nothing else can be changed that way", async () => {
    const { body } = await create({ name: "before" });
    const path = `/api/api-keys/${body.id}`;
    expect((await call("PATCH", path, { name: "after" })).body).toEqual({ object: "api_key", id: body.id });
    expect((await listed(body.id)).name).toBe("after");
    for (const field of ["scopes", "domains", "expires_at", "limits", "permission", "teamId"])
      expect((await call("PATCH", path, { name: "x", [field]: null })).status).toBe(422);
    expect((await listed(body.id)).name).toBe("after");
  });

  test("is rejected after it is revoked, and is no longer listed", async () => {
    const { body } = await create({ name: "short" });
    const path = `/api/api-keys/${body.id}`;
    const status = async () => (await call("GET", "/api/domains", undefined, String(body.token))).status;
    expect(await status()).toBe(200);
    expect((await call("DELETE", path)).body).toEqual({ object: "api_key", id: body.id, deleted: true });
    expect(await status()).toBe(401);
    expect((await call("DELETE", path)).status).toBe(404);
    expect((await call("PATCH", path, { name: "x" })).status).toBe(404);
    await expect(listed(body.id)).rejects.toThrow();
  });

  test("lists its rejected requests of the last 24 hours by reason", async () => {
    const { body } = await create({ name: "refused" });
    const row = (status: number, hoursAgo: number, apiKeyId = String(body.id)) => ({
      teamId: world.id,
      id: newId(),
      apiKeyId,
      method: "GET",
      path: "/api/domains",
      status,
      createdAt: new Date(Date.now() - hoursAgo * 3_600_000),
    });
    await world.deps.db
      .insert(apiRequests)
      .values([
        ...Array.from({ length: 1_010 }, () => row(429, 1)),
        ...[row(403, 1), row(403, 23), row(403, 25), row(200, 1), row(401, 1), row(403, 1, newId())],
      ]);
    expect((await listed(body.id)).recent_refusals).toEqual({
      unauthorized: 1,
      forbidden: 2,
      rate_limited: 1_000,
    });
  });
});
