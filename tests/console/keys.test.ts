import { and, asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiRequests } from "#db/schema/api-keys";
import { auditLog } from "#db/schema/audit";
import { newId } from "#server/platform/ids";
import { createLimits } from "#server/platform/limits/limits";
import { createKey } from "#server/services/keys/keys";
import { readGauges } from "#server/services/keys/use";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { startMinute } from "../support/deps";
import { callApi, type RestServer, startRest } from "../support/rest";

let console: Console;
let rest: RestServer;
let ann: RoleTeam;
beforeAll(async () => {
  console = await openConsole();
  rest = await startRest(console.deps);
  ann = await createRoleTeam(console, "Ann's");
});
afterAll(async () => {
  await rest.close();
  await console.close();
});

type Answer = Record<string, unknown> & { id: string; token: string };
const asAdmin = async (procedure: string, input: object): Promise<Answer> => {
  const result = await ann.call("admin", procedure, input);
  if (!result.ok) throw new Error(`${procedure}: ${result.code} ${result.message}`);
  return result.data as Answer;
};
const keyInput = (more: object = {}) => ({
  name: "Shop",
  scopes: ["emails:send", "domains:read"],
  domains: "all",
  expiresAt: null,
  limits: {},
  ...more,
});
const byRest = (token: string, method: string, path: string, body?: unknown) =>
  callApi(rest.baseUrl, method, path, { token, ...(body === undefined ? {} : { body }) });
const actionsOn = async (id: string) =>
  (
    await console.deps.db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.teamId, ann.teamId), eq(auditLog.subjectId, id)))
      .orderBy(asc(auditLog.id))
  ).map(({ action }) => action);

describe("an API key created in the console", () => {
  test("returns its secret only in that response", async () => {
    const { id, token } = await asAdmin("keys.create", keyInput());
    expect((await byRest(token, "GET", "/api/domains")).status).toBe(200);
    const [, , secret = "none"] = token.split("_");
    const responses = await Promise.all(
      ["keys.get", "keys.gauges", "keys.rejections", "keys.use"].map((name) => asAdmin(name, { id })),
    );
    const all = JSON.stringify([responses, await asAdmin("keys.list", {}), console.lines]);
    expect(all).not.toContain(secret);
    const logged = await console.world.hot`select to_jsonb(a)::text as row from audit_log a`;
    expect(JSON.stringify(logged)).not.toContain(secret);
  });

  test("has the requested properties, and its creator is in the audit log", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await asAdmin("keys.create", keyInput({ expiresAt, limits: { other: 7 } }));
    expect(await asAdmin("keys.get", { id })).toMatchObject({
      name: "Shop",
      state: "active",
      scopes: ["emails:send", "domains:read"],
      all_domains: true,
      domains: [],
      expires_at: expiresAt,
      limits: { other: 7 },
      predecessor: null,
      successor: null,
    });
    expect(await actionsOn(id)).toEqual(["key.created"]);
  });

  test.each([
    [{ name: " " }, "BAD_REQUEST", /^Name: /],
    [{ name: "a\0b" }, "BAD_REQUEST", /^name: /],
    [{ name: "x".repeat(51) }, "BAD_REQUEST", /^Name: /],
    [{ scopes: [] }, "BAD_REQUEST", /^Scopes: /],
    [{ scopes: ["members:write"] }, "BAD_REQUEST", /^Scopes: /],
    [{ domains: [] }, "BAD_REQUEST", /^Domains: /],
    [{ limits: { other: 0 } }, "BAD_REQUEST", /^Other: /],
    [{ limits: { other: 61 } }, "UNPROCESSABLE_CONTENT", /at most 60/],
    [{ expiresAt: "2020-01-01T00:00:00Z" }, "UNPROCESSABLE_CONTENT", /past/],
    [{ expiresAt: "tomorrow" }, "BAD_REQUEST", /^Expires at: /],
    [{ teamId: newId() }, "BAD_REQUEST", /teamId/],
  ])("is not created from %j, and the error names the field", async (more, code, message) => {
    const result = await ann.call("admin", "keys.create", keyInput(more));
    expect(result).toMatchObject({ ok: false, code, message: expect.stringMatching(message) });
  });
});

describe("the rate limit display", () => {
  test("matches the headers of the key's next request, and does not count as one", async () => {
    const { id, token } = await asAdmin("keys.create", keyInput({ limits: { other: 20 } }));
    await byRest(token, "GET", "/api/domains");
    const gauge = async () => {
      const gauges = (await asAdmin("keys.gauges", { id })) as unknown as Record<string, unknown>[];
      return gauges.find(({ tier }) => tier === "other");
    };
    const before = await gauge();
    for (let look = 0; look < 30; look++) await gauge();
    const { headers } = await byRest(token, "GET", "/api/domains");
    const shown = {
      limit: Number(headers["x-ratelimit-limit"]),
      left: Number(headers["x-ratelimit-remaining"]),
    };
    expect(before).toMatchObject({ limit: 20, isOwn: true });
    expect(shown).toEqual({ limit: 20, left: Number(before?.remaining) - 1 });
  });

  test("reads the limiter once per class, with the effective limit", async () => {
    const limits = createLimits({
      store: { kind: "in-process" },
      clock: () => 90_000,
      log: console.deps.log,
    });
    const asked: string[] = [];
    const gauges = await readGauges(
      {
        peek: (bucket, tier, perMinute) => {
          asked.push(`${bucket} ${tier} ${perMinute}`);
          return limits.peek(bucket, tier, perMinute);
        },
      },
      { id: "key", limits: { "POST /api/emails": 5 } },
    );
    expect(asked).toEqual([
      "key POST /api/emails 5",
      "key GET /api/emails 300",
      "key POST /api/templates 60",
      "key other 60",
    ]);
    expect(gauges.map(({ remaining, isOwn }) => ({ remaining, isOwn }))).toEqual([
      { remaining: 5, isOwn: true },
      { remaining: 300, isOwn: false },
      { remaining: 60, isOwn: false },
      { remaining: 60, isOwn: false },
    ]);
  });
});

describe("rejected requests", () => {
  test("are grouped by reason, latest first", async () => {
    const { id, token } = await asAdmin(
      "keys.create",
      keyInput({ scopes: ["emails:send"], limits: { other: 2 } }),
    );
    const from = (domain: string) => ({
      from: `Ann <ann@${domain}>`,
      to: "delivered@backstamp.test",
      subject: "x",
      html: "x",
    });
    startMinute(console.world.clock);
    for (let n = 0; n < 2; n++) expect((await byRest(token, "GET", "/api/domains")).status).toBe(403);
    expect((await byRest(token, "GET", "/api/domains")).status).toBe(429);
    expect((await byRest(token, "POST", "/api/emails", from("Nobody.example"))).status).toBe(403);
    await asAdmin("keys.revoke", { id });
    await expect.poll(async () => (await byRest(token, "GET", "/api/domains")).status).toBe(401);
    await console.deps.requestLog.flush();
    const groups = (await asAdmin("keys.rejections", { id })) as unknown as Record<string, unknown>[];
    const seen = groups.map(({ reason, status, method, path, detail }) => ({
      reason,
      status,
      call: `${method} ${path}`,
      detail,
    }));
    const reads = "GET /api/domains";
    expect(seen[0]).toMatchObject({ reason: "ended" });
    expect(seen).toHaveLength(4);
    expect(seen).toEqual(
      expect.arrayContaining([
        { reason: "ended", status: 401, call: reads, detail: null },
        {
          ...{ reason: "domain_not_linked", status: 403, call: "POST /api/emails" },
          detail: expect.stringMatching(/^nobody\.example is not a domain of this team/),
        },
        { reason: "limit", status: 429, call: reads, detail: null },
        {
          reason: "missing_scope",
          status: 403,
          call: reads,
          detail: "This key lacks the scope domains:read.",
        },
      ]),
    );
    expect(groups.find(({ reason }) => reason === "missing_scope")).toMatchObject({ count: 2 });
  });

  test("of a key without the required scope are reported as such", async () => {
    const { id, token } = await asAdmin("keys.create", keyInput({ scopes: ["keys:write"] }));
    const more = { name: "More", permission: "full_access" };
    expect((await byRest(token, "POST", "/api/api-keys", more)).status).toBe(403);
    await console.deps.requestLog.flush();
    expect(await asAdmin("keys.rejections", { id })).toMatchObject([
      { reason: "exceeds_calling_key", detail: expect.stringContaining("scopes emails:send"), count: 1 },
    ]);
  });

  test("are visible to roles that may read the request log; other roles see the count", async () => {
    const { id } = await asAdmin("keys.create", keyInput());
    expect(await ann.call("viewer", "keys.rejections", { id })).toMatchObject({ code: "FORBIDDEN" });
    expect(await ann.call("viewer", "keys.get", { id })).toMatchObject({
      ok: true,
      data: { recent_refusals: { unauthorized: 0, forbidden: 0, rate_limited: 0 } },
    });
  });
});

test("counts only the key's own requests of today", async () => {
  const { id } = await asAdmin("keys.create", keyInput());
  const row = (apiKeyId: string, createdAt: Date) => ({
    teamId: ann.teamId,
    id: newId(),
    apiKeyId,
    method: "GET",
    path: "/api/domains",
    status: 200,
    createdAt,
  });
  const now = new Date();
  const yesterday = new Date(now.getTime() - 25 * 3_600_000);
  await console.deps.db
    .insert(apiRequests)
    .values([row(id, now), row(id, now), row(newId(), now), row(id, yesterday)]);
  expect(await asAdmin("keys.use", { id })).toEqual({ calls: 2, isAtLeast: false, lastUsedAt: null });
});

describe("rotation", () => {
  test("keeps both keys active, and each refers to the other", async () => {
    const { id, token } = await asAdmin("keys.create", keyInput());
    const successor = await asAdmin("keys.rotate", { id, overlapSeconds: 3_600 });
    for (const each of [token, successor.token])
      expect((await byRest(each, "GET", "/api/domains")).status).toBe(200);
    const until = String(successor.previousUntil);
    expect(await asAdmin("keys.get", { id })).toMatchObject({
      expires_at: until,
      successor: { id: successor.id, name: "Shop" },
    });
    expect(await asAdmin("keys.get", { id: successor.id })).toMatchObject({ predecessor: { id } });
    expect(await actionsOn(id)).toContain("key.rotated");
    expect(await ann.call("admin", "keys.rotate", { id, overlapSeconds: 0 })).toMatchObject({
      code: "CONFLICT",
    });
  });
});

test("a revoked key is listed separately, and found by its id", async () => {
  const { id } = await asAdmin("keys.create", keyInput());
  await asAdmin("keys.revoke", { id });
  const idsOf = async (input: object) => {
    const { rows } = (await asAdmin("keys.list", input)) as unknown as { rows: { id: string }[] };
    return rows.map((row) => row.id);
  };
  expect(await idsOf({})).not.toContain(id);
  expect(await idsOf({ state: "revoked" })).toContain(id);
  expect(await asAdmin("keys.get", { id })).toMatchObject({ state: "revoked" });
  expect(await actionsOn(id)).toEqual(["key.created", "key.revoked"]);
});

test("an update without a change is not audited", async () => {
  const { id } = await asAdmin("keys.create", keyInput());
  await asAdmin("keys.rename", { id, name: "Shop" });
  await asAdmin("keys.rename", { id, name: "Shop, by night" });
  expect(await actionsOn(id)).toEqual(["key.created", "key.renamed"]);
});

test("the domains for a key have the state of their setup, unless they are verified", async () => {
  await ann.call("admin", "domains.add", { name: "keys.example" });
  const { domains } = (await asAdmin("keys.options", {})) as unknown as { domains: object[] };
  expect(domains).toEqual(
    expect.arrayContaining([
      { id: expect.any(String), name: "backstamp.test", setup: null },
      { id: expect.any(String), name: "keys.example", setup: "new" },
    ]),
  );
});

test("rejects a domain of another team like an unknown one", async () => {
  const ben = await createRoleTeam(console, "Ben's");
  const { domains } = (await ben
    .call("admin", "keys.options", {})
    .then((result) => result.ok && result.data)) as {
    domains: { id: string }[];
  };
  const foreign = domains[0]?.id ?? "";
  const missing = newId();
  const messages = await Promise.all(
    [foreign, missing].map(async (domain) => {
      const result = await ann.call("admin", "keys.create", keyInput({ domains: [domain] }));
      return result.ok ? "made" : result.message.replace(domain, "…");
    }),
  );
  expect(messages[0]).toBe(messages[1]);
  expect(messages[0]).not.toBe("made");
});

test("stores a name exactly as typed", async () => {
  const name = `<img src=x onerror=alert(1)>"'&`;
  const { id } = await asAdmin("keys.create", keyInput({ name }));
  expect(await asAdmin("keys.get", { id })).toMatchObject({ name });
});

test("a key of the operator shows limits above the default", async () => {
  const { key } = await createKey(ann.ctx, { name: "Bulk", limits: { "POST /api/emails": 5_000 } });
  const gauges = (await asAdmin("keys.gauges", { id: key.id })) as unknown as Record<string, unknown>[];
  expect(gauges[0]).toMatchObject({ tier: "POST /api/emails", limit: 5_000, remaining: 5_000 });
});
