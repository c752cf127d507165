import { and, asc, eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { auditLog } from "#db/schema/audit";
import { rejected } from "../support/rejected";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld } from "../support/world";

const FORBIDDEN = { status: 403, text: '{"error":"Insufficient API key permissions"}' };

const { zone, peer } = await startZone();
const world = await openWorld({ dnsServers: [peer] });
await world.domain("one.example.com");
afterAll(() => peer.close());

const call = (token: string, method: string, path: string, body?: unknown) =>
  world.api(method, path, { token, body });
const send = (token: string, domain: string) =>
  call(token, "POST", "/api/emails", {
    from: `a@${domain}`,
    to: "delivered@backstamp.test",
    subject: "x",
    html: "x",
  });
const linksOf = async (keyId: string): Promise<string[]> =>
  (
    await world.hot<{ name: string }[]>`
      select d.name from api_key_domains l join domains d on d.id = l.domain_id
      where l.api_key_id = ${keyId} order by d.name`
  ).map(({ name }) => name);

test("a new customer's key adds a domain, verifies it and sends from it", async () => {
  const key = await world.key({ domains: ["backstamp.test"] });
  const added = await call(key.token, "POST", "/api/domains", { name: "customer.example" });
  expect(added.status).toBe(201);
  expect(await send(key.token, "customer.example")).toMatchObject({ status: 422 });
  publish(zone, added.body.records as Listed[]);
  const verified = await call(key.token, "POST", `/api/domains/${added.body.id}/verify`);
  expect(verified.body).toMatchObject({ status: "verified" });
  expect(await send(key.token, "customer.example")).toMatchObject({ status: 200 });
  expect(await send(key.token, "one.example.com")).toMatchObject(FORBIDDEN);
  expect(await linksOf(key.id)).toEqual(["backstamp.test", "customer.example"]);
});

describe("a domain created with a key", () => {
  test("is linked to that key and to no other, which the audit log records", async () => {
    const key = await world.key({ domains: ["one.example.com"] });
    const bystander = await world.key({ domains: ["one.example.com"] });
    const { body } = await call(key.token, "POST", "/api/domains", { name: "mine.example" });
    expect(await linksOf(key.id)).toEqual(["mine.example", "one.example.com"]);
    expect(await linksOf(bystander.id)).toEqual(["one.example.com"]);
    const rows = await world.deps.db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.teamId, world.id), eq(auditLog.subjectId, key.id)))
      .orderBy(asc(auditLog.id));
    expect(rows.at(-1)).toMatchObject({
      action: "key.linked",
      actor: "key",
      actorId: key.id,
      subjectName: "Test key",
      detail: { domain: "mine.example" },
    });
    expect(body).toMatchObject({ name: "mine.example", status: "not_started" });
  });

  test("is not linked if the key has access to all domains, or if the domain cannot be added", async () => {
    const unrestricted = await world.key();
    expect(
      (await call(unrestricted.token, "POST", "/api/domains", { name: "unrestricted.example" })).status,
    ).toBe(201);
    expect(await linksOf(unrestricted.id)).toEqual([]);
    const key = await world.key({ domains: ["one.example.com"] });
    expect((await call(key.token, "POST", "/api/domains", { name: "unrestricted.example" })).status).toBe(
      409,
    );
    expect(await linksOf(key.id)).toEqual(["one.example.com"]);
  });
});

describe("a key for all domains", () => {
  test("can be created over the API only by a key with access to all domains", async () => {
    const request = { name: "all", domains: "all" };
    const unrestricted = await world.key();
    const made = await call(unrestricted.token, "POST", "/api/api-keys", request);
    expect(made.status).toBe(201);
    await world.domain("latest.example");
    expect(await send(String(made.body.token), "latest.example")).toMatchObject({ status: 200 });
    const restricted = await world.key({ domains: ["one.example.com"] });
    const before = await world.rowCounts();
    expect(await call(restricted.token, "POST", "/api/api-keys", request)).toMatchObject(FORBIDDEN);
    expect(await world.rowCounts()).toEqual(before);
  });

  test("requires exactly the word `all`", async () => {
    const { token } = await world.key();
    for (const domains of ["ALL", "every", ["all"], "one.example.com", { all: true }]) {
      expect(await call(token, "POST", "/api/api-keys", { name: "x", domains })).toMatchObject(
        rejected(422, /domain/),
      );
    }
  });
});
