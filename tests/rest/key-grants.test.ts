import { describe, expect, test } from "vitest";
import { type KeyOptions, openWorld } from "../support/world";

const FORBIDDEN = { status: 403, text: '{"error":"Insufficient API key permissions"}' };

// A call that waits too long for one of these connections gets 503.
const world = await openWorld({ connectionsMax: 16 });
const { id: one } = await world.domain("one.example.com");
const { id: two } = await world.domain("two.example.com");

type Listed = Record<string, unknown> & { id: string; domains: { id: string }[]; all_domains: boolean };

const call = (token: string, method: string, path: string, body?: unknown) =>
  world.api(method, path, { token, body });
async function listed(id: unknown): Promise<Listed> {
  const { token } = await world.key();
  const { body } = await call(token, "GET", "/api/api-keys");
  const found = (body.data as Listed[]).find((key) => key.id === id);
  if (!found) throw new Error("The key is not listed");
  return found;
}
const inHours = (hours: number) => new Date(world.clock.now().getTime() + hours * 3_600_000);

describe("a key cannot grant more than it has", () => {
  const day = () => inHours(24).toISOString();
  const usual = { "POST /api/emails": 100, "GET /api/emails": 300, "POST /api/templates": 60, other: 60 };
  const matrix = (): [what: string, creator: KeyOptions, request: object, status: number][] => [
    [
      "all of its scopes",
      { scopes: ["keys:write", "logs:read"] },
      { scopes: ["logs:read", "keys:write"] },
      201,
    ],
    ["one scope too many", { scopes: ["keys:write"] }, { scopes: ["keys:write", "emails:read"] }, 403],
    [
      "full access without having it",
      { scopes: ["keys:write", "emails:send"] },
      { permission: "full_access" },
      403,
    ],
    ["full access", {}, { permission: "full_access" }, 201],
    ["its own domain", { domains: ["one.example.com"] }, { domains: ["one.example.com"] }, 201],
    ["another domain", { domains: ["one.example.com"] }, { domains: ["two.example.com"] }, 403],
    ["one domain too many", { domains: ["one.example.com"] }, { domains: [one, two] }, 403],
    ["an earlier expiry", { expiresAt: inHours(48) }, { expires_at: day() }, 201],
    ["a later expiry", { expiresAt: inHours(23) }, { expires_at: day() }, 403],
    ["lower limits", {}, { limits: { other: 59 } }, 201],
    ["the default limits, with higher own limits", { limits: { other: 5_000 } }, { limits: usual }, 201],
    [
      "more than the default, with higher own limits",
      { limits: { other: 5_000 } },
      { limits: { other: 61 } },
      422,
    ],
    ["more than its own low limit", { limits: { other: 10 } }, { limits: { other: 11 } }, 403],
  ];

  test.each([201, 403, 422])("%i", async (status) => {
    const cases = matrix().filter((each) => each[3] === status);
    const tokens: string[] = [];
    for (const [, creator] of cases) tokens.push((await world.key(creator)).token);
    const before = await world.rowCounts();
    for (const [n, [what, , request]] of cases.entries()) {
      const reply = await call(tokens[n] ?? "", "POST", "/api/api-keys", { name: "made", ...request });
      expect(reply.status, what).toBe(status);
      if (status === 403) expect(reply).toMatchObject(FORBIDDEN);
    }
    if (status !== 201) expect(await world.rowCounts()).toEqual(before);
  });

  test("and omitted fields default to its own permissions", async () => {
    const expiresAt = inHours(5);
    const { token } = await world.key({
      scopes: ["keys:write", "emails:send"],
      domains: ["one.example.com"],
      expiresAt,
      limits: { other: 7, "POST /api/emails": 5_000 },
    });
    const { status, body } = await call(token, "POST", "/api/api-keys", { name: "made" });
    expect(status).toBe(201);
    expect(await listed(body.id)).toMatchObject({
      scopes: ["keys:write", "emails:send"],
      all_domains: false,
      domains: [{ id: one, name: "one.example.com" }],
      expires_at: expiresAt.toISOString(),
      limits: { other: 7 },
    });
  });

  test("and cannot grant anything after it is revoked, even if a process still caches it", async () => {
    const { id, token } = await world.key();
    expect((await call(token, "GET", "/api/domains")).status).toBe(200);
    await world.revoke(id);
    const before = await world.rowCounts();
    for (const [path, body] of [
      ["/api/api-keys", { name: "late" }],
      [`/api/api-keys/${id}/rotate`, {}],
    ] as const)
      expect([401, 404]).toContain((await call(token, "POST", path, body)).status);
    expect(await world.rowCounts()).toEqual(before);
  });
});

describe("links to domains", () => {
  const linkPath = (key: string, domain: string) => `/api/api-keys/${key}/domains/${domain}`;
  const sendsFrom = async (token: string, domain: string) => {
    const newEmail = { from: `a@${domain}`, to: "delivered@backstamp.test", subject: "x", html: "x" };
    return (await call(token, "POST", "/api/emails", newEmail)).status;
  };

  test("can be created and removed, and a repeat changes nothing", async () => {
    const { token } = await world.key();
    const key = await world.key({ domains: ["one.example.com"] });
    expect(await sendsFrom(key.token, "two.example.com")).toBe(403);
    for (let n = 0; n < 2; n++) {
      const { body } = await call(token, "PUT", linkPath(key.id, two));
      expect(body).toEqual({ object: "api_key_domain", id: key.id, domain_id: two, linked: true });
    }
    expect(await sendsFrom(key.token, "two.example.com")).toBe(200);
    for (let n = 0; n < 2; n++)
      expect((await call(token, "DELETE", linkPath(key.id, two))).body).toMatchObject({ linked: false });
    expect(await sendsFrom(key.token, "two.example.com")).toBe(403);
    expect(await sendsFrom(key.token, "one.example.com")).toBe(200);
  });

  test("are limited to the domains of the calling key, also for its own links", async () => {
    const caller = await world.key({ scopes: ["keys:write"], domains: ["one.example.com"] });
    const key = await world.key({ domains: ["two.example.com"] });
    for (const id of [key.id, caller.id])
      for (const method of ["PUT", "DELETE"])
        expect(await call(caller.token, method, linkPath(id, two))).toMatchObject(FORBIDDEN);
    expect((await listed(key.id)).domains).toEqual([{ id: two, name: "two.example.com" }]);
    expect((await call(caller.token, "PUT", linkPath(key.id, one))).status).toBe(200);
    expect((await listed(key.id)).domains).toHaveLength(2);
    expect((await listed(caller.id)).domains).toHaveLength(1);
  });

  test("require keys:write, and a key that is linked to specific domains", async () => {
    const whole = await world.key();
    const key = await world.key({ domains: ["one.example.com"] });
    const reader = await world.key({ scopes: ["keys:read", "domains:write"] });
    expect(await call(reader.token, "PUT", linkPath(key.id, two))).toMatchObject(FORBIDDEN);
    for (const method of ["PUT", "DELETE"])
      expect((await call(whole.token, method, linkPath(whole.id, two))).status).toBe(409);
  });
});

describe("rotation", () => {
  const rotate = (token: string, id: string, body?: object) =>
    call(token, "POST", `/api/api-keys/${id}/rotate`, body);
  const works = async (token: string) => (await call(token, "GET", "/api/domains")).status === 200;

  test("creates a successor with the same permissions, and both keys work until the overlap ends", async () => {
    const old = await world.key({
      domains: ["one.example.com"],
      expiresAt: inHours(1_000),
      limits: { other: 1_000 },
    });
    const { status, body } = await rotate(old.token, old.id, { overlap_seconds: 3_600 });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: "api_key",
      id: expect.any(String),
      token: expect.stringMatching(/^re_/),
      rotated_from: old.id,
      previous_expires_at: expect.any(String),
    });
    expect(body.id).not.toBe(old.id);
    const before = await listed(old.id);
    const after = await listed(body.id);
    expect(before.expires_at).toBe(body.previous_expires_at);
    const { name, scopes, all_domains, domains, limits } = before;
    expect(after).toMatchObject({ name, scopes, all_domains, domains, limits, rotated_from: old.id });
    expect(after.expires_at).toBe(inHoursOf(after.expires_at, 1_000));
    expect([await works(old.token), await works(String(body.token))]).toEqual([true, true]);
    await world.elapse("1 hour");
    expect([await works(old.token), await works(String(body.token))]).toEqual([false, true]);
  });
  // The old key's expiry was given by the test's clock, to the millisecond.
  const inHoursOf = (expiresAt: unknown, hours: number) => {
    expect(Math.abs(Date.parse(String(expiresAt)) - inHours(hours).getTime())).toBeLessThan(60_000);
    return expiresAt;
  };

  test("has one day of overlap by default, none with 0, and at most seven days", async () => {
    const { token } = await world.key();
    const key = await world.key();
    const { body } = await rotate(token, key.id);
    const overlapMs = Date.parse(String(body.previous_expires_at)) - Date.now();
    expect(Math.abs(overlapMs - 24 * 3_600_000)).toBeLessThan(60_000);
    expect((await rotate(token, String(body.id), { overlap_seconds: 0 })).status).toBe(201);
    expect(await works(String(body.token))).toBe(false);
    for (const seconds of [604_801, -1, 1.5, "60"])
      expect((await rotate(token, key.id, { overlap_seconds: seconds })).status).toBe(422);
  });

  test("never extends a key that expires earlier", async () => {
    const { token } = await world.key();
    const key = await world.key({ expiresAt: inHours(1) });
    const { expires_at } = await listed(key.id);
    expect((await rotate(token, key.id, { overlap_seconds: 86_400 })).body.previous_expires_at).toBe(
      expires_at,
    );
  });

  test("of a key succeeds once, even with many concurrent calls", async () => {
    const { token } = await world.key();
    const key = await world.key();
    const replies = await Promise.all(Array.from({ length: 8 }, () => rotate(token, key.id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
    const made = replies.find(({ status }) => status === 201)?.body;
    expect((await rotate(token, key.id)).body.message).toContain(String(made?.id));
    expect((await rotate(token, String(made?.id))).status).toBe(201);
  });

  test("of two keys by each other does not deadlock; a key that expires too soon cannot rotate the other", async () => {
    const [a, b] = [await world.key(), await world.key()];
    const replies = await Promise.all([rotate(a.token, b.id), rotate(b.token, a.id)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 403]);
  });

  test("of a key with scopes, domains or an expiry that the caller lacks is rejected", async () => {
    const pairs: [KeyOptions, KeyOptions][] = [
      [{ scopes: ["keys:write"] }, { scopes: ["keys:write", "emails:send"] }],
      [{ domains: ["one.example.com"] }, { domains: ["two.example.com"] }],
      [{ domains: ["one.example.com"] }, {}],
      [{ expiresAt: new Date("2030-01-01T00:00:00Z") }, {}],
    ];
    const keys: { id: string; token: string }[][] = [];
    for (const [own, theirs] of pairs) keys.push([await world.key(own), await world.key(theirs)]);
    const before = await world.rowCounts();
    for (const [caller, key] of keys)
      expect(await rotate(caller?.token ?? "", key?.id ?? "")).toMatchObject(FORBIDDEN);
    expect(await world.rowCounts()).toEqual(before);
    for (const [caller] of keys)
      expect((await rotate(caller?.token ?? "", caller?.id ?? "")).status).toBe(201);
  });

  test("of a key with higher limits than the caller's leaves the successor with the caller's", async () => {
    const caller = await world.key({ limits: { other: 50 } });
    const key = await world.key({ limits: { other: 5_000 } });
    const { body } = await rotate(caller.token, key.id);
    expect((await listed(body.id)).limits).toMatchObject({ other: 50 });
  });
});
