import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { type Built, buildDeps } from "#server/startup/deps";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { startProcess, type TestProcess } from "../support/processes/processes";
import { freePort } from "../support/servers/free-port";
import { ADMIN } from "./backstamp";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
const publicUrl = "https://mail.example.org";

let folder: string;
let postgres: EmbeddedPostgres;
let built: Built;
let server: TestProcess;
let url: string;
let token: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-alone-"));
  // A test stops this server.
  postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog, quick: true });
  await migrateDatabase(postgres.url);
  const env = { DATABASE_URL: postgres.url, BACKSTAMP_SECRET: "s".repeat(40), BACKSTAMP_URL: publicUrl };
  built = buildDeps({ ...readSettings(env, "start"), databaseUrl: postgres.url }, { log: silentLog });
  const team = await createTeam(built.deps, { name: "First" });
  const ctx = { ...built.deps, teamId: team.id, actor: { kind: "operator" } as const, requestId: "test" };
  const scopes = ["emails:send", "emails:read"] as const;
  ({ token } = await createKey(ctx, { name: "First", scopes, domains: ["backstamp.test"] }));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = await startProcess(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", String(port)], {
    env: {
      ...env,
      SMTP_URL: "capture:",
      NODE_ENV: "production",
      BACKSTAMP_ADMIN: `${ADMIN.email}:${ADMIN.password}`,
    },
  });
  await server.waitFor(/Ready in/, { timeoutMs: 60_000 });
  // Without a launcher, the first visit creates the configured user.
  await fetch(`${url}/login`);
});
afterAll(async () => {
  await server?.stop("SIGTERM", 30_000);
  await built?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const api = async (method: string, target: string, body?: unknown) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/api${target}`, init);
  return { status: response.status, headers: response.headers, json: await response.json() };
};

describe("Next without a launcher", () => {
  test("accepts and delivers an email without another process", async () => {
    const mail = {
      from: "a@backstamp.test",
      to: "delivered@backstamp.test",
      subject: "Alone",
      html: "<p>x</p>",
    };
    const { status, json, headers } = await api("POST", "/emails", mail);
    expect(status).toBe(200);
    expect(headers.get("x-ratelimit-limit")).toBe("100");
    await expect
      .poll(async () => (await api("GET", `/emails/${json.id}`)).json.last_event, { timeout: 60_000 })
      .toBe("delivered");
  });

  test("serves the OpenAPI document and the API reference without sign-in", async () => {
    const document = await api("GET", "/openapi.json");
    expect(document).toMatchObject({ status: 200, json: { openapi: "3.1.1" } });
    expect(Object.keys(document.json.paths)).toContain("/api/emails");
    for (const [path, content] of [
      ["/docs/api", "<h1>API reference</h1>"],
      ["/docs/api/emails", 'id="send-an-email"'],
      ["/docs/api/emails.md", "`POST /api/emails`"],
      ["/llms.txt", "/docs/api/emails.md"],
    ] as const) {
      const page = await fetch(url + path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(await page.text()).toContain(content);
    }
  });

  test("responds to unknown paths below /api like the launcher", async () => {
    expect(await api("GET", "/nothing")).toMatchObject({ status: 404, json: { name: "not_found" } });
    expect((await fetch(`${url}/api/nothing`)).status).toBe(401);
  });
});

test.each([
  ["TRACE /api/emails", 405],
  ["TRACE /login", 405],
  ["OPTIONS *", 405],
  ["PROPFIND /api/emails", 405],
  ["PROPFIND /login", 405],
  ["BREW /api/emails", 400],
  ["CONNECT example.com:443", 405],
  ["PUT /api/auth/session", 405],
  ["OPTIONS /api/trpc/emails.list", 405],
  ["GET /api/auth/csrf?callbackUrl=a%00b", 422],
  ["GET /api/trpc/emails.list", 401],
])("%s is %i with the headers of the API", async (line, status) => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  for (const name of ["limit", "remaining", "reset"])
    expect(answer).toMatch(new RegExp(`^x-ratelimit-${name}: \\d+\r?$`, "im"));
  expect(answer).not.toMatch(/<html|^content-length: 0\r?$/im);
});

describe("the sign-in routes", () => {
  /** Signs in like a browser: with the CSRF cookie and the origin of our own page. */
  const visit = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const issued = await fetch(`${url}/api/auth/csrf`);
    const cookie = issued.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
    const { csrfToken } = (await issued.json()) as { csrfToken: string };
    const response = await fetch(`${url}/api/auth/callback/credentials`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: publicUrl, ...headers },
      body: new URLSearchParams({
        csrfToken,
        json: "true",
        email: ADMIN.email,
        password: ADMIN.password,
        ...form,
      }),
    });
    const text = await response.text();
    return { status: response.status, text, set: response.headers.getSetCookie() };
  };
  const sessionOf = (set: string[]) => set.find((line) => line.includes("backstamp.session="));

  test("set the session cookie for this host only, over TLS only, and hidden from scripts", async () => {
    const { status, set, text } = await visit({ callbackUrl: "https://evil.example/" });
    expect(status).toBe(200);
    const cookie = sessionOf(set);
    expect(cookie).toMatch(/^__Host-backstamp\.session=/);
    for (const flag of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"])
      expect(cookie?.toLowerCase()).toContain(flag.toLowerCase());
    expect(JSON.parse(text).url).toBe(`${publicUrl}/console`);
  });

  test("reject other origins, an invalid CSRF token, and a body that is too large", async () => {
    expect((await visit({}, { origin: "https://evil.example" })).status).toBe(403);
    const forged = await visit({ csrfToken: "x" });
    expect(sessionOf(forged.set)).toBeUndefined();
    expect((await visit({ password: "x".repeat(20_000) })).status).toBe(413);
  });
});

test("without the database, pages and sign-in errors contain no SQL and no connection details", async () => {
  const page = await fetch(`${url}/login`);
  expect(page.status).toBe(200);
  const issued = await fetch(`${url}/api/auth/csrf`);
  const cookie = issued.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const { csrfToken } = (await issued.json()) as { csrfToken: string };
  const signIn = () =>
    fetch(`${url}/api/auth/callback/credentials`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: publicUrl },
      body: new URLSearchParams({ csrfToken, json: "true", ...ADMIN }),
    });
  const session = (await signIn()).headers.getSetCookie().find((line) => line.includes("backstamp.session="));
  await postgres.stop();
  const inside = await fetch(`${url}/console/emails`, { headers: { cookie: session?.split(";")[0] ?? "" } });
  expect(await inside.text()).not.toMatch(/select |from "|Failed query|ECONN/);
  const refused = await (await signIn()).text();
  expect(refused).toContain("error=Unavailable");
  expect(refused).not.toMatch(/select |from "|Failed query|ECONN|backstamp\.test/);
});
