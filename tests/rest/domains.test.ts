import { createPublicKey } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { dkimKeys } from "#db/schema/domains";
import { webhookDeliveries } from "#db/schema/webhooks";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { removeRelay } from "#server/services/relays/write";
import { relayTo } from "../support/relays";
import { callApi, startRest } from "../support/rest";
import { openTestApp } from "./test-app";

const MISSING = "018f0000-0000-7000-8000-000000000000";

const { world, token, call } = await openTestApp();

let count = 0;
const newName = () => `d${++count}.example.com`;

const create = (body: object, by = token) => call("POST", "/api/domains", body, by);

describe("a new domain", () => {
  test("has the fields that Resend clients expect, and all its records in the closed set of kinds", async () => {
    const name = newName();
    const { status, body } = await create({ name, region: "eu-west-1", custom_return_path: "Bounce" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.any(String),
      name,
      status: "not_started",
      region: "eu-west-1",
      capabilities: { sending: "enabled", receiving: "disabled" },
      open_tracking: false,
      click_tracking: false,
      tls: "opportunistic",
      custom_return_path: "bounce",
    });
    const records = body.records as Record<string, unknown>[];
    for (const record of records)
      expect(record).toMatchObject({
        record: expect.stringMatching(/^(SPF|DKIM|Receiving|Tracking|TrackingCAA)$/),
        type: expect.stringMatching(/^(MX|TXT|CNAME)$/),
        name: expect.any(String),
        value: expect.any(String),
        ttl: "Auto",
        status: "not_started",
      });
    expect(body.dmarc).toMatchObject({ name: `_dmarc.d${count}`, type: "TXT", value: "v=DMARC1; p=none;" });
    const stored = await call("GET", `/api/domains/${body.id}`);
    expect(stored.body).toEqual(body);
    const { body: list } = await call("GET", "/api/domains");
    const [newest] = list.data as Record<string, unknown>[];
    expect(newest).toMatchObject({ id: body.id, name, status: "not_started" });
    expect(newest).not.toHaveProperty("records");
  });

  test("has an RSA key of 2048 bits, whose private key is encrypted at rest and never returned", async () => {
    const { body, text } = await create({ name: newName() });
    const [dkim] = body.records as { value: string }[];
    const [, base64 = ""] = /^v=DKIM1; k=rsa; p=([A-Za-z0-9+/=]+)$/.exec(dkim?.value ?? "") ?? [];
    const publicKey = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    expect(publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    const id = String(body.id);
    const ofRsa = and(eq(dkimKeys.domainId, id), eq(dkimKeys.algorithm, "rsa"));
    const [row] = await world.deps.db.select().from(dkimKeys).where(ofRsa);
    const sealed = row?.privateKey ?? "";
    expect(sealed).not.toContain("PRIVATE KEY");
    const place = SEALED.dkimKey.locationOf({ id: row?.id ?? "", teamId: world.id });
    const opened = createPublicKey(world.deps.vault.open(sealed, place));
    expect(opened.export({ type: "spki", format: "der" }).toString("base64")).toBe(base64);
    for (const other of [{ id: MISSING }, { teamId: MISSING }])
      expect(() => world.deps.vault.open(sealed, { ...place, ...other })).toThrow();
    for (const answer of [text, (await call("GET", `/api/domains/${id}`)).text])
      expect(answer).not.toMatch(/PRIVATE|k1\./);
  });

  test("is rejected with an invalid name or field, and nothing is stored", async () => {
    const before = await world.rowCounts();
    const name = newName();
    for (const [fields, message] of [
      [{ name: "co.uk" }, /public suffix/],
      [{ name: "github.io" }, /public suffix/],
      [{ name: "localhost" }, /one label/],
      [{ name: "example.com." }, /dot/],
      [{ name: "*.example.com" }, /character/],
      [{ name: "127.0.0.1" }, /IP/],
      [{ name: "_x.example.com" }, /character/],
      [{ name: "shop.backstamp.test" }, /subdomains of backstamp\.test/],
      [{ name: "" }, /Missing `name`/],
      [{ name: 7 }, /`name`/],
      [{ name, region: "mars-1" }, /`region`/],
      [{ name, custom_return_path: "a.b" }, /`custom_return_path`/],
      [{ name, tls: "none" }, /`tls`/],
      [{ name, open_tracking: "yes" }, /`open_tracking`/],
      [{ name, capabilities: { sending: "on" } }, /`capabilities\.sending`/],
      [{ name, capabilities: { flying: "enabled" } }, /`capabilities\.flying`/],
      [{ name, capabilities: { sending: "disabled" } }, /capability/],
    ] as const) {
      const { status, body } = await create(fields);
      expect({ fields, status, message: body.message }).toEqual({
        fields,
        status: 422,
        message: expect.stringMatching(message),
      });
    }
    expect(await world.rowCounts()).toEqual(before);
  });

  test("has one canonical name in any spelling", async () => {
    const { body } = await create({ name: "BÜCHER.Example.COM" });
    expect(body.name).toBe("xn--bcher-kva.example.com");
    for (const name of ["bücher.example.com", "xn--BCHER-kva.example.com", "bücher。example.com"])
      expect((await create({ name })).status).toBe(409);
  });

  test("returns a note in place of records if this server has no host name", async () => {
    const { body } = await create({ name: newName() });
    const records = body.records as { purpose: string }[];
    expect(records.map(({ purpose }) => purpose)).toEqual(["dkim", "dkim_ed25519", "ownership"]);
    expect(body.notes).toEqual([
      { about: "SPF", text: expect.stringContaining("BACKSTAMP_HOSTNAME is not set") },
      { about: "MX", text: expect.stringContaining("BACKSTAMP_HOSTNAME") },
    ]);
  });

  test.each([
    ["SMTP_URL", "relay"],
    ["a relay of its team", "direct"],
  ] as const)(
    "that sends by %s has a note that the relay's provider documents its SPF record",
    async (by, transportKind) => {
      const names = { mailHost: "mail.example.net", returnPathDomain: null, webHost: null };
      const relay = await startRest({ ...world.deps, names, transportKind });
      const made = by !== "SMTP_URL" && (await relayTo(world.deps, { port: 25 }, { teamId: world.id }));
      const { body } = await callApi(relay.baseUrl, "POST", "/api/domains", {
        token,
        body: { name: newName() },
      });
      await relay.close();
      if (made) await removeRelay(world.deps, made);
      const records = body.records as { purpose: string }[];
      expect(records.map(({ purpose }) => purpose)).toEqual(["dkim", "dkim_ed25519", "ownership", "mx"]);
      expect(body.notes).toEqual([{ about: "SPF", text: expect.stringContaining("relay's provider") }]);
    },
  );
});

describe("a domain of the team", () => {
  test("changes only the given fields; at least one capability must stay enabled", async () => {
    const { body } = await create({ name: newName(), click_tracking: true });
    const path = `/api/domains/${body.id}`;
    const change = { open_tracking: true, tls: "verified", tracking_subdomain: "go" };
    expect((await call("PATCH", path, change)).body).toEqual({ object: "domain", id: body.id });
    expect((await call("GET", path)).body).toMatchObject({ ...change, click_tracking: true });
    expect((await call("PATCH", path, { capabilities: { sending: "disabled" } })).status).toBe(422);
    expect((await call("GET", path)).body.capabilities).toEqual({
      sending: "enabled",
      receiving: "disabled",
    });
    for (const field of ["name", "status", "teamId", "verified", "declared_verified"])
      expect((await call("PATCH", path, { [field]: "x" })).status).toBe(422);
  });

  test("that is set to receive has a note that this has no effect", async () => {
    const { id } = await world.domain(newName());
    const change = { capabilities: { sending: "disabled", receiving: "enabled" } };
    expect((await call("PATCH", `/api/domains/${id}`, change)).status).toBe(200);
    expect((await call("GET", `/api/domains/${id}`)).body.notes).toContainEqual({
      about: "Receiving",
      text: expect.stringContaining("no effect"),
    });
  });

  test("whose name mixes scripts is accepted with a warning in its Unicode form", async () => {
    const { status, body } = await call("POST", "/api/domains", { name: `p\u0430ypal.${newName()}` });
    expect({ status, name: body.name }).toEqual({ status: 201, name: expect.stringMatching(/^xn--/) });
    const about = (notes: unknown) => (notes as { about: string }[]).filter(({ about }) => about === "Name");
    expect(about(body.notes)).toEqual([
      {
        about: "Name",
        text: expect.stringContaining('"p\u0430ypal" mixes letters of several scripts (Latin, Cyrillic).'),
      },
    ]);
    const plain = await call("POST", "/api/domains", { name: newName() });
    expect(about(plain.body.notes)).toEqual([]);
  });

  test("is removed with its links when it is deleted", async () => {
    const domain = await world.domain(newName());
    const linked = await world.key({ domains: [domain.name] });
    const { body } = await call("DELETE", `/api/domains/${domain.id}`);
    expect(body).toEqual({ object: "domain", id: domain.id, deleted: true });
    for (const method of ["GET", "DELETE"])
      expect((await call(method, `/api/domains/${domain.id}`)).status).toBe(404);
    world.clock.advance(1_000);
    const newEmail = { from: `a@${domain.name}`, to: "delivered@backstamp.test", subject: "x", html: "x" };
    expect((await call("POST", "/api/emails", newEmail, linked.token)).status).toBe(403);
  });

  test("that is built in is listed and cannot be changed, verified or deleted", async () => {
    const { body } = await call("GET", "/api/domains");
    const builtIn = (body.data as { id: string; name: string }[]).find(
      ({ name }) => name === "backstamp.test",
    );
    const path = `/api/domains/${builtIn?.id}`;
    expect((await call("PATCH", path, { tls: "enforced" })).status).toBe(409);
    expect((await call("POST", `${path}/verify`)).status).toBe(409);
    expect((await call("DELETE", path)).status).toBe(409);
    expect((await call("GET", path)).body).toMatchObject({ status: "verified", records: [] });
  });

  test("sends events of its changes to the endpoints of its team only", async () => {
    const events = ["domain.created", "domain.updated", "domain.deleted"];
    const other = await world.otherTeam();
    const foreign = await other.key();
    for (const by of [token, foreign.token])
      await call("POST", "/api/webhooks", { endpoint: "https://example.com/hooks", events }, by);
    const name = newName();
    const { body } = await create({ name });
    // DNS has no records here, so the check is pending; a second check with the same result sends no event.
    for (let n = 0; n < 2; n++) await call("POST", `/api/domains/${body.id}/verify`);
    await call("PATCH", `/api/domains/${body.id}`, { open_tracking: true });
    await call("DELETE", `/api/domains/${body.id}`);
    const rows = await world.deps.db.select().from(webhookDeliveries).orderBy(webhookDeliveries.id);
    expect(rows.map(({ teamId, type }) => ({ teamId, type }))).toEqual(
      ["domain.created", "domain.updated", "domain.updated", "domain.deleted"].map((type) => ({
        teamId: world.id,
        type,
      })),
    );
    expect(rows.map(({ payload }) => JSON.parse(payload ?? "").data.status)).toEqual([
      "not_started",
      ...Array<string>(3).fill("pending"),
    ]);
    expect(JSON.parse(rows[0]?.payload ?? "")).toEqual({
      type: "domain.created",
      created_at: expect.any(String),
      data: {
        id: body.id,
        name,
        status: "not_started",
        created_at: body.created_at,
        region: "us-east-1",
        records: (body.records as { record: string; name: string; value: string }[]).map(({ value }) =>
          expect.objectContaining({ value, ttl: "Auto" }),
        ),
      },
    });
  });

  test("is in the first page by default, whose limit is the maximum", async () => {
    const other = await world.otherTeam("Paging");
    const { token: by } = await other.key();
    await world.hot`
      insert into domains (id, team_id, name)
      select uuid_v7(), ${other.id}, 'many' || n || '.example' from generate_series(1, 98) as n`;
    const { body } = await call("GET", "/api/domains", undefined, by);
    expect(body.data).toHaveLength(99);
  });
});
