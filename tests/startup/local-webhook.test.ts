import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { buildDeps } from "#server/startup/deps";
import { freshDatabase, type TestDatabase } from "../support/database/postgres";
import { bannerOf, type Launcher, startLauncher } from "../support/processes/launcher";
import { killLeftovers } from "../support/processes/processes";
import { runProgram } from "../support/processes/program";
import { type HttpSink, startHttpSink } from "../support/servers/http-sink";

let dataDir: string;
let database: TestDatabase;
let launcher: Launcher;
let sink: HttpSink;
let token: string;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "backstamp local "));
  sink = await startHttpSink();
  database = await freshDatabase();
  const env = { DATABASE_URL: database.url };
  launcher = await startLauncher({ dataDir, by: "compiled", env });
  await bannerOf(launcher);
  const made = await runProgram(
    "server/startup/admin.ts",
    [
      "key",
      "create",
      "--name",
      "All",
      "--scopes",
      "emails:send,webhooks:write",
      "--domains",
      "all",
      "--json",
    ],
    { env: { ...env, BACKSTAMP_DATA_DIR: dataDir } },
  );
  ({ token } = JSON.parse(made.stdout));
}, 180_000);
afterAll(async () => {
  await launcher?.killTree();
  killLeftovers();
  await sink?.close();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const post = (target: string, body: object) =>
  fetch(`${launcher.url}/api${target}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("in dev, webhooks to this machine get events without a setting", async () => {
  const hosts = ["localhost", "127.0.0.1"];
  for (const host of hosts) {
    const endpoint = `http://${host}:${sink.port}/${host}`;
    expect((await post("/webhooks", { endpoint, events: ["email.delivered"] })).status).toBe(201);
  }
  const email = { from: "hello@backstamp.test", to: "delivered@backstamp.test", subject: "Hi", html: "x" };
  expect((await post("/emails", email)).status).toBe(200);
  await sink.waitFor(hosts.length);
  expect(sink.received.map(({ path: received }) => received).sort()).toEqual(["/127.0.0.1", "/localhost"]);
}, 60_000);

test.each(["10.0.0.1", "169.254.169.254", "0.0.0.0"])("in dev, %s is rejected as elsewhere", async (host) => {
  const response = await post("/webhooks", { endpoint: `http://${host}/`, events: ["email.delivered"] });
  expect(response.status).toBe(422);
});

const URLS = ["http://127.0.0.1:4000/", "http://[::1]/", "http://localhost:4000/"];

test("this machine is allowed only in dev, and there only without other networks", async () => {
  const required = {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    BACKSTAMP_URL: "https://mail.example.com",
    BACKSTAMP_SECRET: "x".repeat(40),
  };
  const faultsIn = async (mode: "dev" | "start" | "vercel", env: Record<string, string> = {}) => {
    const settings = readSettings({ ...required, ...env }, mode);
    const built = buildDeps({ ...settings, databaseUrl: required.DATABASE_URL });
    const faults = URLS.map((url) => built.deps.outside.checkUrl(url));
    await built.close();
    return faults;
  };
  expect(await faultsIn("dev")).toEqual([null, null, null]);
  const hint = expect.stringContaining("BACKSTAMP_EGRESS_ALLOW");
  expect(await faultsIn("start")).toEqual([hint, hint, hint]);
  expect(await faultsIn("vercel")).toEqual([hint, hint, hint]);
  // A name is resolved when it is called.
  expect(await faultsIn("dev", { BACKSTAMP_EGRESS_ALLOW: "10.0.0.0/8" })).toEqual([hint, hint, null]);
});
