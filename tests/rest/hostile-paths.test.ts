import { describe, expect, test } from "vitest";
import { openHostileApp } from "./hostile-app";

const app = await openHostileApp();

describe("every path and method has one response", () => {
  test.each([
    ["GET", "/api/emails/", 404],
    ["GET", "/api//emails", 404],
    ["GET", "/api/..;/emails", 404],
    ["GET", "/api/%65mails", 404],
    ["GET", "/api/%2565mails", 404],
    ["GET", "/api%2femails", 404],
    ["GET", "/api/emails%zz", 404],
    ["GET", "/api/templates/%zz", 404],
    ["GET", "/api/templates/a%00b", 404],
    ["GET", "/api/Emails", 404],
    ["GET", "/api/", 404],
    ["GET", "/api/emails/../templates", 200],
    ["GET", "/api/emails/%2e%2e/templates", 200],
    ["GET", "/api/../secret", 404],
    ["PUT", "/api/emails", 405],
    ["OPTIONS", "/api/emails", 405],
    ["PROPFIND", "/api/emails", 405],
    ["POST", "/api/emails/018f0000-0000-7000-8000-000000000000", 405],
    ["POST", "/api/cron/tick", 404],
    ["HEAD", "/api/emails", 200],
  ])("%s %s is %i, in JSON and with the limit headers", async (method, path, status) => {
    const reply = await app.world.api(method, path, { token: app.token });
    expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.headers["x-ratelimit-limit"]).toMatch(/^\d+$/);
    if (method !== "HEAD" && status >= 400) expect(reply.body.error).toEqual(expect.any(String));
    if (method === "HEAD") expect(reply.text).toBe("");
    if (status === 405) expect(reply.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
    const anonymous = await app.world.api(method, path);
    expect(anonymous.status).toBe(401);
  });

  test("no header overrides the method", async () => {
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"])
      expect(
        (
          await app.world.api("GET", "/api/emails", {
            token: app.token,
            headers: { [name]: "POST" },
          })
        ).body.object,
      ).toBe("list");
  });

  test("a body of a GET is not read, and an empty object counts as no body", async () => {
    const options = { token: app.token, raw: "{}", headers: { "content-type": "application/json" } };
    expect((await app.world.api("GET", "/api/emails", options)).status).toBe(200);
    const made = await app.world.api("POST", "/api/templates", {
      token: app.token,
      body: { name: "x", html: "x" },
    });
    const path = `/api/templates/${made.body.id}`;
    expect((await app.world.api("POST", `${path}/publish`, options)).status).toBe(200);
    expect(
      (
        await app.world.api("POST", `${path}/publish`, {
          token: app.token,
          headers: { "content-type": "application/json" },
        })
      ).status,
    ).toBe(200);
    expect((await app.world.api("DELETE", path, { token: app.token, body: { id: 1 } })).body.message).toMatch(
      /has no request body/,
    );
    expect((await app.world.api("DELETE", path, options)).status).toBe(200);
  });

  test("a malformed Authorization header is 401 like a missing one", async () => {
    for (const authorization of [
      app.token,
      `Basic ${app.token}`,
      "Bearer",
      `Bearer ${app.token} x`,
      `Bearer ${app.token.slice(0, -1)}`,
      `Bearer ${app.token}x`,
      `Bearer\t${app.token}`,
    ]) {
      const reply = await app.world.api("GET", "/api/emails", { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(reply.text).toBe('{"error":"Unauthorized"}');
    }
    const twice = await app.world.api("GET", "/api/emails", {
      headers: { authorization: [`Bearer ${app.token}`, "Bearer x"] },
    });
    expect(twice.status).toBe(401);
    const loose = await app.world.api("GET", "/api/emails", {
      headers: { authorization: `bearer  ${app.token}` },
    });
    expect(loose.status).toBe(200);
  });

  test("an invalid request id is replaced and never returned", async () => {
    const kept = await app.world.api("GET", "/api/emails", {
      token: app.token,
      headers: { "x-request-id": "my-request-1" },
    });
    expect(kept.headers["x-request-id"]).toBe("my-request-1");
    for (const id of ["short", "x".repeat(65), "<script>alert(1)</script>", "a b c d e f g h"]) {
      const { headers } = await app.world.api("GET", "/api/emails", {
        token: app.token,
        headers: { "x-request-id": id },
      });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
