import { NextRequest } from "next/server";
import { expect, test } from "vitest";
import { provideConsoleDeps } from "#server/auth/deps";
import * as auth from "../../app/api/auth/[...nextauth]/route";
import * as trpc from "../../app/api/trpc/[trpc]/route";
import { openConsole, queryPath } from "../support/console/console";

const console = await openConsole();
provideConsoleDeps(console.deps);

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
const handlers = { trpc: { ...trpc }, auth: { ...auth } };
const own = { origin: "https://mail.example.org", "x-backstamp-peer": "192.0.2.7" };

/** Calls the route file, as Next does. Next itself answers a method that the file does not export. */
async function ask(method: Method, target: string, init: { headers?: object; body?: string } = {}) {
  const length = { "content-length": String(init.body?.length ?? 0) };
  const headers = { ...own, ...(method === "POST" ? length : {}), ...init.headers };
  const request = new NextRequest(`https://mail.example.org${target}`, { method, headers, body: init.body });
  const segments = request.nextUrl.pathname.split("/").slice(3);
  if (target.startsWith("/api/trpc")) return handlers.trpc[method](request);
  return handlers.auth[method](request, { params: Promise.resolve({ nextauth: segments }) });
}

const json = { "content-type": "application/json" };
const foreign = { ...json, origin: "https://evil.example" };

test.each([
  ["GET", "/api/trpc/emails.list", 401, {}],
  ["GET", `/api/trpc/${queryPath("no.procedure", {})}`, 404, {}],
  ["GET", `/api/trpc/${Array(11).fill("account.me").join(",")}?batch=1`, 400, {}],
  ["POST", "/api/trpc/keys.create", 403, { headers: foreign, body: "{}" }],
  ["POST", "/api/trpc/keys.create", 415, { body: "{}" }],
  ["PUT", "/api/trpc/keys.create", 405, { headers: json, body: "{}" }],
  ["DELETE", "/api/trpc/keys.create", 405, {}],
  ["OPTIONS", "/api/trpc/keys.create", 405, {}],
  ["GET", "/api/auth/csrf", 200, {}],
  ["GET", "/api/auth/session", 200, {}],
  ["GET", "/api/auth/signin", 302, {}],
  ["GET", "/api/auth/signin/github", 404, {}],
  ["POST", "/api/auth/link/read", 422, { headers: json, body: "{}" }],
  ["POST", "/api/auth/signout", 403, { headers: foreign }],
  ["POST", "/api/auth/signout", 413, { headers: { "content-length": "20000" } }],
  ["PUT", "/api/auth/csrf", 405, {}],
  ["OPTIONS", "/api/auth/csrf", 405, {}],
  ["HEAD", "/api/auth/csrf", 200, {}],
  ["GET", "/api/auth/csrf?callbackUrl=a%00b", 422, {}],
  ["GET", "/api/auth/session?callbackUrl=javascript:alert(1)", 422, {}],
  ["GET", "/api/auth/csrf?callbackUrl=%2Fconsole&callbackUrl=console", 422, {}],
  ["GET", "/api/auth/csrf", 200, { headers: { cookie: "__Secure-next-auth.callback-url=a%00b" } }],
  ["GET", "/api/auth/error?error=%E2%9C%93%0D%0AX:1", 302, {}],
  ["GET", "/api/auth/csrf", 200, { headers: { cookie: "__proto__=1; __Host-backstamp.session=%zz" } }],
] as const)("%s %s is %i and has the rate-limit headers", async (method, target, status, init) => {
  const response = await ask(method, target, init);
  const text = await response.text();
  expect([text, response.status]).toEqual([text, status]);
  expect(response.headers.get("x-ratelimit-limit")).toBe("60");
  expect(response.headers.get("x-ratelimit-remaining")).toBe("60");
  expect(response.headers.get("x-ratelimit-reset")).toMatch(/^\d+$/);
  if (status === 405) expect(response.headers.get("allow")).toMatch(/^(GET|POST)/);
});
