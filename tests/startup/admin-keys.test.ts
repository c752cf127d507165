import { and, desc, eq } from "drizzle-orm";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { apiKeys } from "#db/schema/api-keys";
import { auditLog } from "#db/schema/audit";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const eventually = { timeout: 30_000, interval: 50 };

const world = forAllTests(() => createWorld());
let key: { id: string; token: string };
beforeAll(async () => {
  await world.domain("one.example.com");
  await world.domain("two.example.com");
});
beforeEach(async () => {
  key = await world.key({ domains: ["one.example.com"], limits: "usual" });
});

const set = (...args: string[]) =>
  runCommand(["key", "set", ...args], {
    env: { DATABASE_URL: world.databaseUrl },
  });
async function setJson(...args: string[]) {
  const { code, stdout, stderr } = await set(key.id, "--json", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}
const changes = async () =>
  (
    await world.deps.db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.subjectId, key.id), eq(auditLog.action, "key.changed")))
      .orderBy(desc(auditLog.id))
  ).map(({ actor, detail }) => ({ actor, detail }));
const rowOf = async (id: string) => (await world.deps.db.select().from(apiKeys).where(eq(apiKeys.id, id)))[0];
const send = async (domain: string) => {
  const body = { from: `a@${domain}`, to: "delivered@backstamp.test", subject: "x", html: "x" };
  return world.api("POST", "/api/emails", { token: key.token, body });
};

test("the operator sets higher limits than a key can, and resets them to the defaults", async () => {
  expect((await send("one.example.com")).headers["x-ratelimit-limit"]).toBe("100");
  expect(await setJson("--limit", "POST /api/emails=1000", "--limit", "other=7")).toMatchObject({
    id: key.id,
    limits: { "POST /api/emails": 1000, other: 7 },
    domains: [{ name: "one.example.com" }],
    expires_at: null,
  });
  await vi.waitFor(
    async () => expect((await send("one.example.com")).headers["x-ratelimit-limit"]).toBe("1000"),
    eventually,
  );
  expect(await setJson("--limit", "other=default")).toMatchObject({ limits: { "POST /api/emails": 1000 } });
  expect((await rowOf(key.id))?.limits).toEqual({ "POST /api/emails": 1000 });
  expect(await changes()).toEqual([
    { actor: "operator", detail: { "limit other": null, "limit other_before": 7 } },
    {
      actor: "operator",
      detail: {
        ...{ "limit POST /api/emails": 1000, "limit POST /api/emails_before": null },
        ...{ "limit other": 7, "limit other_before": null },
      },
    },
  ]);
});

test("a key's domains are changed to others and to all", async () => {
  expect((await send("two.example.com")).status).toBe(403);
  expect(await setJson("--domains", "two.example.com,backstamp.test")).toMatchObject({
    domains: [{ name: "backstamp.test" }, { name: "two.example.com" }],
  });
  await vi.waitFor(async () => expect((await send("one.example.com")).status).toBe(403), eventually);
  expect((await send("two.example.com")).status).toBe(200);
  expect(await setJson("--domains", "all")).toMatchObject({ all_domains: true, domains: [] });
  await vi.waitFor(async () => expect((await send("one.example.com")).status).toBe(200), eventually);
  const [row] = await world.deps
    .hot`select count(*)::int n from api_key_domains where api_key_id = ${key.id}`;
  expect(row).toEqual({ n: 0 });
  expect(await setJson("--domains", "one.example.com")).toMatchObject({
    all_domains: false,
    domains: [{ name: "one.example.com" }],
  });
  expect((await changes()).map(({ detail }) => detail)).toEqual([
    { domains: ["one.example.com"], domains_before: "all" },
    { domains: "all", domains_before: ["backstamp.test", "two.example.com"] },
    { domains: ["backstamp.test", "two.example.com"], domains_before: ["one.example.com"] },
  ]);
});

test("a key's expiry is set and removed", async () => {
  expect(await setJson("--expires", "2999-01-31")).toMatchObject({ expires_at: "2999-01-31T00:00:00.000Z" });
  expect(await setJson("--expires", "never")).toMatchObject({ expires_at: null });
  expect((await send("one.example.com")).status).toBe(200);
  expect(await setJson("--expires", "2020-01-01")).toMatchObject({ expires_at: "2020-01-01T00:00:00.000Z" });
  await vi.waitFor(async () => expect((await send("one.example.com")).status).toBe(401), eventually);
  expect(await changes()).toHaveLength(3);
});

test("setting a value to its current value is not recorded as a change", async () => {
  await setJson("--domains", "one.example.com", "--expires", "never", "--limit", "other=default");
  expect(await changes()).toEqual([]);
});

test("an invalid change is rejected with a reason, and the key stays unchanged", async () => {
  const before = await rowOf(key.id);
  const other = await world.otherTeam();
  const foreign = await other.key({ domains: ["backstamp.test"] });
  const revoked = await world.key();
  await world.revoke(revoked.id);
  for (const [args, fault] of [
    [[key.id], /use --domains or --expires or --limit or --networks/],
    [[key.id, "--domains", "nobody.example"], /nobody\.example is not a domain of this team/],
    [[key.id, "--limit", "other=0"], /1 to 1000000, or default/],
    [[key.id, "--limit", "GET /api=5"], /Classes: /],
    [[key.id, "--expires", "soon"], /enter never/],
    [[foreign.id, "--limit", "other=5"], /API key not found/],
    [[revoked.id, "--limit", "other=5"], /API key not found/],
  ] as const) {
    const { code, stdout, stderr } = await set(...args);
    expect({ failed: code !== 0, stdout }).toEqual({ failed: true, stdout: "" });
    expect(stderr).toMatch(fault);
  }
  expect(await rowOf(key.id)).toEqual(before);
  expect((await rowOf(foreign.id))?.limits).not.toHaveProperty("other", 5);
  expect(await changes()).toEqual([]);
});
