import { afterAll, describe, expect, test } from "vitest";
import { apiRequests } from "#db/schema/api-keys";
import { newId } from "#server/platform/ids";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { callApi, startRest } from "../support/rest";

const console = await openConsole();
const rest = await startRest(console.deps);
const ann = await createRoleTeam(console, "Ann's");
afterAll(() => rest.close());

type Answer = Record<string, unknown> & { id: string; token: string };
const asAdmin = (procedure: string, input: object) => ann.data<Answer>("admin", procedure, input);
const keyInput = (more: object = {}) => ({
  name: "Shop",
  scopes: ["emails:send", "domains:read"],
  domains: "all",
  expiresAt: null,
  limits: {},
  ...more,
});
const byRest = (token: string, method: string, path: string, body?: unknown) =>
  callApi(rest.baseUrl, method, path, { token, body });
const actionsOn = async (subject: string) => (await ann.audit({ subject })).map(({ action }) => action);

describe("an API key created in the console", () => {
  test("has the requested properties, and returns its secret only in that response", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id, token } = await asAdmin("keys.create", keyInput({ expiresAt, limits: { other: 7 } }));
    expect(await asAdmin("keys.get", { id })).toMatchObject({
      ...{ name: "Shop", state: "active", scopes: ["emails:send", "domains:read"], all_domains: true },
      ...{ domains: [], expires_at: expiresAt, limits: { other: 7 }, predecessor: null, successor: null },
    });
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
  const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  // Midnight may pass before they are read.
  const [now, yesterday] = [hoursFromNow(1), hoursFromNow(-25)];
  await console.deps.db
    .insert(apiRequests)
    .values([row(id, now), row(id, now), row(newId(), now), row(id, yesterday)]);
  expect(await asAdmin("keys.use", { id })).toEqual({ calls: 2, isAtLeast: false, lastUsedAt: null });
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
