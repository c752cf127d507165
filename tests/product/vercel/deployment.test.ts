import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mintToken } from "#server/platform/secrets/secrets";
import { createRoleDatabase } from "../../support/database/role-database";
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from "../../support/processes/pgbouncer";
import { runProgram } from "../../support/processes/program";
import { redisMissing, startRedis } from "../../support/processes/redis";
import { startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { startUpstashTestServer } from "../../support/servers/upstash-test-server";
import { type Listed, publish, startZone } from "../../support/servers/zone";
import {
  admin,
  type Environment,
  type FunctionInstance,
  requiredEnvironment,
  startFunction,
} from "./functions";

const suite = `the build with Next's handlers alone${pgbouncerMissing ? ` (skipped: ${pgbouncerMissing})` : ""}`;

describe.skipIf(pgbouncerMissing)(suite, () => {
  let database: Awaited<ReturnType<typeof createRoleDatabase>>;
  let pooler: PgBouncer;
  const closing: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    database = await createRoleDatabase();
    pooler = await startPgBouncer(database.url);
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await pooler.stop();
    await database.drop();
  });

  async function open(environment: Environment) {
    const instance = await startFunction({ ...requiredEnvironment(pooler.url), ...environment });
    closing.push(() => instance.process.killTree());
    return instance;
  }

  const textOf = async (url: string) => {
    const response = await fetch(url);
    return { status: response.status, text: await response.text() };
  };
  const jsonOf = async (url: string, init?: RequestInit) => {
    const response = await fetch(url, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  test("a CRON_SECRET that is too short is logged and named by every response, without its value", async () => {
    const { url, tick, process } = await open({ CRON_SECRET: "hunter2" });
    const ready = await jsonOf(`${url}/api/health/ready`);
    expect(ready).toMatchObject({
      status: 503,
      body: { reason: "invalid_settings", settings: ["CRON_SECRET"], status: "not_ready" },
    });
    expect(ready.body.message).toMatch(/CRON_SECRET: It has fewer than 16 characters\. Generate one/);
    expect(ready.headers.get("x-ratelimit-limit")).toBe("60");
    expect(await tick("hunter2")).toBe(503);
    const page = await textOf(`${url}/login`);
    expect(page.status).toBe(200);
    expect(page.text).toContain("CRON_SECRET");
    expect(page.text).toContain("It has fewer than 16 characters");
    expect(process.output).toMatch(/settings\.invalid.*CRON_SECRET/);
    for (const text of [page.text, JSON.stringify(ready.body), process.output])
      expect(text).not.toContain("hunter2");
  });

  /** Checks what an instance says about a database without tables. */
  async function expectNotMigrated({ url, tick }: FunctionInstance): Promise<void> {
    for (const path of ["/login", "/setup", "/console/emails", "/"]) {
      const { status, text } = await textOf(`${url}${path}`);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(text).toContain("The database is not migrated");
      expect(text).toContain("npm run -s backstamp -- migrate");
      expect(text).not.toMatch(/select |Failed query|relation/);
    }
    const headers = { authorization: `Bearer ${mintToken().token}` };
    for (const path of ["/api/health/ready", "/api/emails"]) {
      const { status, body } = await jsonOf(`${url}${path}`, { headers });
      expect({ path, status, reason: body.reason }).toEqual({
        path,
        status: 503,
        reason: "database_not_migrated",
      });
      expect(body.message).toContain("-- migrate");
    }
    expect(await tick()).toBe(503);
  }

  /** Signs in with the configured first user. Returns the cookie of the session. */
  async function signIn(url: string): Promise<string> {
    const pairsOf = (response: Response) => response.headers.getSetCookie().map((line) => line.split(";")[0]);
    const issued = await fetch(`${url}/api/auth/csrf`);
    const cookies = pairsOf(issued);
    const { csrfToken } = (await issued.json()) as { csrfToken: string };
    const signedIn = await fetch(`${url}/api/auth/callback/credentials`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: cookies.join("; "), origin: url },
      body: new URLSearchParams({ csrfToken, json: "true", ...admin }),
    });
    expect(signedIn.status).toBe(200);
    return pairsOf(signedIn).join("; ");
  }

  test.skipIf(redisMissing)(
    "environment variables alone lead from an empty database to a first email",
    async () => {
      const redis = await startRedis();
      closing.push(() => redis.stop());
      const upstash = await startUpstashTestServer(redis.url);
      closing.push(() => upstash.stop());
      const relay = await startSmtpTestServer();
      closing.push(() => relay.close());
      const { zone, peer } = await startZone();
      closing.push(() => peer.close());
      const environment = {
        SMTP_URL: `smtp://${relay.host}:${relay.port}`,
        BACKSTAMP_DNS_SERVERS: `127.0.0.1:${peer.port}`,
        UPSTASH_REDIS_REST_URL: upstash.url,
        UPSTASH_REDIS_REST_TOKEN: upstash.token,
      };

      // A deployment whose build did not migrate, such as a preview, says so. After a migration it works.
      const instance = await open(environment);
      const { url, tick } = instance;
      await expectNotMigrated(instance);
      const build = await runProgram("server/startup/install/prepare-production.ts", [], {
        env: {
          ...requiredEnvironment(pooler.url),
          ...environment,
          VERCEL_ENV: "production",
          BACKSTAMP_URL: "https://mail.example.com",
        },
      });
      expect(build).toMatchObject({ code: 0, stdout: "The database was migrated.\n" });
      expect((await textOf(`${url}/login`)).text).toContain("Sign in");
      const cookie = await signIn(url);
      const overview = await (await fetch(`${url}/console`, { headers: { cookie } })).text();
      const team = /team(?:Id)?[\\"=:]+([0-9a-f-]{36})/.exec(overview)?.[1];
      const created = await jsonOf(`${url}/api/trpc/keys.create`, {
        method: "POST",
        headers: { cookie, origin: url, "content-type": "application/json" },
        body: JSON.stringify({
          team,
          name: "First key",
          scopes: ["emails:send", "emails:read", "domains:read", "domains:write"],
          domains: "all",
          expiresAt: null,
          limits: {},
        }),
      });
      expect(created).toMatchObject({ status: 200 });
      const { token } = created.body.result.data;

      const call = (method: string, path: string, body?: object) =>
        jsonOf(`${url}/api${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        });
      const domain = await call("POST", "/domains", { name: "example.org" });
      publish(zone, domain.body.records as Listed[]);
      await call("POST", `/domains/${domain.body.id}/verify`);
      expect((await call("GET", `/domains/${domain.body.id}`)).body).toMatchObject({ status: "verified" });
      const email = { from: "ann@example.org", to: "ben@example.net", subject: "First", text: "Hello" };
      const sent = await call("POST", "/emails", email);
      expect(sent).toMatchObject({ status: 200 });
      await expect
        .poll(() => relay.messages, { timeout: 30_000 })
        .toMatchObject([{ to: ["ben@example.net"] }]);
      expect(relay.messages[0]?.bytes.toString()).toMatch(/^DKIM-Signature: .*\bd=example\.org/ms);
      await expect
        .poll(async () => (await call("GET", `/emails/${sent.body.id}`)).body.last_event, { timeout: 30_000 })
        .toBe("sent");
      expect(upstash.requests()).toBeGreaterThan(0);
      expect(await tick()).toBe(200);
      // The pooler's connections predate the limits of the role. It opens new ones in time.
      await database.endConnections();
      await expect
        .poll(async () => (await jsonOf(`${url}/api/health/ready`)).body, { timeout: 30_000 })
        .toEqual({ status: "ready" });

      // The same deployment without Upstash says so, in the console too.
      const alone = await open({ SMTP_URL: environment.SMTP_URL });
      expect((await jsonOf(`${alone.url}/api/health/ready`)).body).toMatchObject({
        status: "ready",
        alarms: [{ alarm: "limits_not_shared" }],
      });
      const page = await fetch(`${alone.url}/console`, { headers: { cookie } });
      expect(await page.text()).toMatch(
        /role="status"[^>]*>.*Each function instance counts rate limits by itself/s,
      );
      expect(alone.process.output).toContain("limits.per_instance");
    },
  );
});
