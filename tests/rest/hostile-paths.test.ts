import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Log } from "#server/log";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
const faults: unknown[] = [];
const log: Log = { info() {}, warn() {}, error: (event, facts) => faults.push({ event, facts }) };
beforeAll(async () => {
  desk = await openDesk({ domain: "linked.com", bodyMaxBytes: 3 * 1024 * 1024, log });
});
afterAll(async () => {
  await desk.close();
  // Whatever a caller sends, nothing unexpected happens behind the answer either.
  expect(faults).toEqual([]);
});

describe("every path and method has one answer", () => {
  test.each([
    ["GET", "/api/emails/", 404],
    ["GET", "/api//emails", 404],
    ["GET", "//api/emails", 404],
    ["GET", "/api/emails//", 404],
    ["GET", "/api/..;/emails", 404],
    ["GET", "/api/.;/emails", 404],
    ["GET", "/api/%65mails", 404],
    ["GET", "/api/%2565mails", 404],
    ["GET", "/api%2femails", 404],
    ["GET", "/api/emails%2f", 404],
    ["GET", "/api/emails%00", 404],
    ["GET", "/api/emails%zz", 404],
    ["GET", "/api/templates/%zz", 404],
    ["GET", "/api/templates/%ff", 404],
    ["GET", "/api/templates/a%00b", 404],
    ["GET", "/api/templates/%2e%2e", 404],
    ["GET", "/api/Emails", 404],
    ["GET", "/API/emails", 404],
    ["GET", "/api/emails.json", 404],
    ["GET", "/api", 404],
    ["GET", "/api/", 404],
    ["GET", "/api/emails/../templates", 200],
    ["GET", "/api/emails/%2e%2e/templates", 200],
    ["GET", "/api/../secret", 404],
    ["GET", "/api/emails/a/b", 404],
    ["PUT", "/api/emails", 405],
    ["PATCH", "/api/emails", 405],
    ["DELETE", "/api/emails", 405],
    ["OPTIONS", "/api/emails", 405],
    ["TRACE", "/api/emails", 405],
    ["PROPFIND", "/api/emails", 405],
    ["POST", "/api/emails/018f0000-0000-7000-8000-000000000000", 405],
    ["GET", "/api/templates/x/publish", 405],
    ["POST", "/api/health", 405],
    ["GET", "/api/cron/tick", 404],
    ["POST", "/api/cron/tick", 404],
    ["PUT", "/api/cron/tick", 404],
    ["HEAD", "/api/emails", 200],
    ["HEAD", "/api/nothing", 404],
  ])("%s %s is %i, in JSON and with the limit headers", async (method, path, status) => {
    const reply = await desk.world.api(method, path, { token: desk.token });
    expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.headers["x-ratelimit-limit"]).toMatch(/^\d+$/);
    if (method !== "HEAD" && status >= 400) expect(reply.body.error).toEqual(expect.any(String));
    if (method === "HEAD") expect(reply.text).toBe("");
    if (status === 405) expect(reply.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
    const anonymous = await desk.world.api(method, path);
    expect(anonymous.status).toBe(401);
  });

  test("the methods of a path are told, HEAD among them", async () => {
    const { headers, body } = await desk.world.api("DELETE", "/api/emails", { token: desk.token });
    expect(headers.allow).toBe("POST, GET, HEAD");
    expect(body.message).toBe("DELETE is not possible here. Use POST or GET or HEAD.");
  });

  test("a path that is nearly right is told how to write it", async () => {
    for (const path of ["/api/emails/", "/api//emails"])
      expect((await desk.world.api("GET", path, { token: desk.token })).body.message).toBe(
        `There is no ${path}. Write /api/emails.`,
      );
  });

  test("no header makes one method into another", async () => {
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"])
      expect(
        (await desk.world.api("GET", "/api/emails", { token: desk.token, headers: { [name]: "POST" } })).body
          .object,
      ).toBe("list");
  });

  test("a body with a GET is not read, and an empty object is none anywhere", async () => {
    const options = { token: desk.token, raw: "{}", headers: { "content-type": "application/json" } };
    expect((await desk.world.api("GET", "/api/emails", options)).status).toBe(200);
    const made = await desk.world.api("POST", "/api/templates", {
      token: desk.token,
      body: { name: "x", html: "x" },
    });
    const path = `/api/templates/${made.body.id}`;
    expect((await desk.world.api("POST", `${path}/publish`, options)).status).toBe(200);
    expect(
      (
        await desk.world.api("POST", `${path}/publish`, {
          token: desk.token,
          headers: { "content-type": "application/json" },
        })
      ).status,
    ).toBe(200);
    expect(
      (await desk.world.api("DELETE", path, { token: desk.token, body: { id: 1 } })).body.message,
    ).toMatch(/takes no body/);
    expect((await desk.world.api("DELETE", path, options)).status).toBe(200);
  });

  test("an odd Authorization header is 401 like none", async () => {
    for (const authorization of [
      desk.token,
      `Basic ${desk.token}`,
      "Bearer",
      "Bearer ",
      `Bearer ${desk.token} x`,
      `Bearer "${desk.token}"`,
      `Bearer ${desk.token},`,
      `Bearer ${desk.token.slice(0, -1)}`,
      `Bearer ${desk.token}x`,
      `Bearer ${desk.token.toUpperCase()}`,
      `Bearer ${"x".repeat(8_000)}`,
      `Bearer\t${desk.token}`,
    ]) {
      const reply = await desk.world.api("GET", "/api/emails", { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(reply.text).toBe('{"error":"Unauthorized"}');
    }
    const twice = await desk.world.api("GET", "/api/emails", {
      headers: { authorization: [`Bearer ${desk.token}`, "Bearer x"] },
    });
    expect(twice.status).toBe(401);
    const loose = await desk.world.api("GET", "/api/emails", {
      headers: { authorization: `bearer  ${desk.token}` },
    });
    expect(loose.status).toBe(200);
  });

  test("an odd request id is replaced and never echoed", async () => {
    const kept = await desk.world.api("GET", "/api/emails", {
      token: desk.token,
      headers: { "x-request-id": "my-request-1" },
    });
    expect(kept.headers["x-request-id"]).toBe("my-request-1");
    for (const id of ["short", "x".repeat(65), "<script>alert(1)</script>", "a b c d e f g h"]) {
      const { headers } = await desk.world.api("GET", "/api/emails", {
        token: desk.token,
        headers: { "x-request-id": id },
      });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
