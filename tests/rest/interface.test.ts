import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { type CallOptions, callApi, type Reply } from "../support/rest";
import { openTarget } from "../support/target";
import { CALLS, MANY, TEMPLATE } from "./interface-calls";
import { EMAIL } from "./test-app";

/**
 * The specification without errors and limits, sentence by sentence. Each test is named after the sentence it
 * checks.
 */

const target = await openTarget();
afterAll(() => target.close());
/** A key with every scope, linked to the built-in domain. */
const { token } = await target.mintKey({ scopes: ["full_access"], limits: MANY });

const call = (method: string, path: string, options?: CallOptions) =>
  callApi(target.baseUrl, method, path, options);
const answerOf = ({ status, body }: Reply) => ({ status, body });
const UNAUTHORIZED = { status: 401, body: { error: "Unauthorized" } };
const FORBIDDEN = { status: 403, body: { error: "Insufficient API key permissions" } };

describe("What the service does", () => {
  test("“The service sends emails on behalf of a caller through an HTTP API under {base_url}/api.”", async () => {
    const { status, body } = await call("POST", "/api/emails", { token, body: EMAIL });
    expect(status).toBe(200);
    await expect
      .poll(
        async () => {
          await target.deliver();
          return (await call("GET", `/api/emails/${body.id}`, { token })).body.last_event;
        },
        { timeout: 30_000, interval: 200 },
      )
      .toBe("delivered");
  });
});

describe("Email (as submitted)", () => {
  test.each(Object.keys(EMAIL))("“%s | string | Required: yes”", async (field) => {
    expect(
      await call("POST", "/api/emails", { token, body: { ...EMAIL, [field]: undefined } }),
    ).toMatchObject(rejected(422, `\`${field}\``));
    expect(await call("POST", "/api/emails", { token, body: { ...EMAIL, [field]: 1 } })).toMatchObject(
      rejected(422, `\`${field}\``),
    );
  });
});

describe("API key", () => {
  test("“Linked to one or more sending domains.”", async () => {
    const names = [0, 1, 2].map(() => `${randomBytes(6).toString("hex")}.example.org`);
    for (const name of names) await target.addDomain(name);
    const linked = names.slice(0, 2);
    const key = await target.mintKey({ scopes: ["emails:send"], domains: linked });
    const statuses = [];
    for (const name of names) {
      const to = "delivered@backstamp.test";
      const reply = await call("POST", "/api/emails", {
        token: key.token,
        body: { ...EMAIL, from: `ann@${name}`, to },
      });
      statuses.push(reply.status);
    }
    expect(statuses).toEqual([200, 200, 403]);
  });

  test.each(CALLS)(
    "“Has a scope that limits which actions it may perform.” %s: %s %s",
    async (_, method, path, body, scope) => {
      const holder = await target.mintKey({ scopes: [scope] });
      expect((await call(method, path, { token: holder.token, body })).status).toBeLessThan(300);
      for (const [, otherMethod, otherPath, otherBody, otherScope] of CALLS) {
        if (otherScope === scope) continue;
        const reply = await call(otherMethod, otherPath, { token: holder.token, body: otherBody });
        expect(answerOf(reply)).toEqual(FORBIDDEN);
      }
    },
  );
});

describe("Endpoints", () => {
  test("“Requests with a body carry Content-Type: application/json.”", async () => {
    for (const [, method, path, body] of CALLS) {
      if (!body) continue;
      const raw = JSON.stringify(body);
      const headers = { "content-type": "text/plain" };
      expect((await call(method, path, { token, raw, headers })).status).toBe(415);
      expect((await call(method, path, { token, raw })).status).toBeLessThan(300);
    }
  });

  test("“POST /api/emails | JSON object with from, to, subject, html (all strings) | Sends an email.”", async () => {
    const sent = await call("POST", "/api/emails", { token, body: EMAIL });
    expect(sent.status).toBe(200);
    expect(sent.body).toEqual({ id: expect.any(String) });
    const stored = await call("GET", `/api/emails/${sent.body.id}`, { token });
    expect(stored.body).toMatchObject({ ...EMAIL, to: [EMAIL.to] });
    for (const raw of ["[]", '"x"', "null", "{"])
      expect((await call("POST", "/api/emails", { token, raw })).status).toBe(400);
  });

  test("“GET /api/emails | none | Reads emails.”", async () => {
    const { body: sent } = await call("POST", "/api/emails", { token, body: EMAIL });
    const { status, body } = await call("GET", "/api/emails", { token });
    expect(status).toBe(200);
    expect((body.data as object[])[0]).toMatchObject({
      id: sent.id,
      from: EMAIL.from,
      subject: EMAIL.subject,
    });
  });

  test("“POST /api/templates | JSON object | Creates a template.”", async () => {
    const { status, body } = await call("POST", "/api/templates", { token, body: TEMPLATE });
    expect(status).toBe(201);
    expect(body).toEqual({ object: "template", id: expect.any(String) });
    for (const raw of ["[]", '"x"', "null", "{"])
      expect((await call("POST", "/api/templates", { token, raw })).status).toBe(400);
  });
});

describe("Authentication", () => {
  const PATHS = [
    ["POST", "/api/emails"],
    ["GET", "/api/emails"],
    ["POST", "/api/templates"],
    ["GET", "/api/templates"],
    ["DELETE", "/api/templates/x"],
    ["GET", "/api/nothing-here"],
    ["PUT", "/api/emails"],
  ] as const;

  test.each(PATHS)(
    "“Every request to the API must be authenticated with a bearer token.” %s %s",
    async (method, path) => {
      expect(answerOf(await call(method, path))).toEqual(UNAUTHORIZED);
      expect((await call(method, path, { token })).status).not.toBe(401);
    },
  );

  test.each<[string, CallOptions]>([
    ["the Authorization header is missing", {}],
    ["the key is invalid", { token: `re_${"0".repeat(12)}_${"0".repeat(43)}_${"0".repeat(6)}` }],
    ...["Bearer", "Bearer two words", token, `Basic ${token}`, `Token ${token}`].map(
      (authorization): [string, CallOptions] => [
        "the bearer token is malformed",
        { headers: { authorization } },
      ],
    ),
    ["the bearer token is malformed", { token: "not-a-key" }],
  ])("“When %s … then the response is status 401 with body { error: Unauthorized }.”", async (_, options) => {
    for (const [method, path] of PATHS) {
      const reply = await call(method, path, options);
      expect(reply.text).toBe('{"error":"Unauthorized"}');
      expect(reply.status).toBe(401);
    }
  });

  test("“May expire.” “When … the key is expired … status 401 with body { error: Unauthorized }.”", async () => {
    const expiring = async (ms: number) =>
      (await target.mintKey({ scopes: ["full_access"], expiresAt: new Date(target.nowMs() + ms) })).token;
    const [later, expired] = [await expiring(3_600_000), await expiring(-3_600_000)];
    expect((await call("GET", "/api/emails", { token: later })).status).toBe(200);
    for (const [method, path] of PATHS)
      expect(answerOf(await call(method, path, { token: expired }))).toEqual(UNAUTHORIZED);
  });

  test("“When the key is valid but lacks permission, then … status 403 with body { error: Insufficient API key permissions }. Causes: the sender in from belongs to a domain not linked to the key; …”", async () => {
    for (const from of ["ann@example.com", "ann@sub.backstamp.test", "ann@notbackstamp.test"])
      expect(await call("POST", "/api/emails", { token, body: { ...EMAIL, from } })).toMatchObject({
        status: 403,
        text: '{"error":"Insufficient API key permissions"}',
      });
  });
});
