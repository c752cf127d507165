import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { tick } from "#server/delivery/tick";
import { PROVIDER_CLASSES } from "#server/mail/provider-class";
import { createPrometheus } from "#server/platform/telemetry/prometheus";
import { REPLY_CLASSES } from "#server/shared/reply-classes";
import { forAllTests } from "../support/fixtures";
import { projectRoot } from "../support/processes/processes";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { relayTo } from "../support/relays";
import { callApi, startRest } from "../support/rest";
import { type HttpSink, startHttpSink } from "../support/servers/http-sink";
import { type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

const metricsToken = "the-token-of-prometheus-0123456789";

/** The names of the metrics that a PromQL expression reads. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, " ")
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ");
  return [...bare.matchAll(/(?<![\w.])[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !/^(and|or|unless|bool|offset)$/.test(name));
}

const read = (file: string) => readFileSync(path.join(projectRoot, ".github/deploy", file), "utf8");

/** All expressions of the dashboard and of the alert rules, by where they are. */
function readExpressions(): [where: string, expression: string][] {
  const { panels } = JSON.parse(read("grafana-dashboard.json")) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const { groups } = parse(read("prometheus-alerts.yml")) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }): [string, string] => [title, expr]),
    ),
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }): [string, string] => [alert, expr])),
  ];
}

/** The samples of a scrape: name, labels and value. */
const samplesOf = (text: string) =>
  [...text.matchAll(/^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$/gm)].map(([, name = "", labels = "", value]) => ({
    name,
    labels,
    value: Number(value),
  }));

describe("an installation under load", () => {
  let world: World;
  let sink: HttpSink;
  const servers: SmtpTestServer[] = [];
  let scraped: string;

  const sampleOf = (name: string, labels: string) =>
    samplesOf(scraped).find((sample) => sample.name === name && sample.labels === labels)?.value;

  beforeAll(async () => {
    world = await createWorld({
      metricsToken,
      prometheus: createPrometheus({ version: "0.0.0", role: "web" }),
    });
    sink = await startHttpSink();
    const accepting = await startSmtpTestServer();
    const deferring = await startSmtpTestServer({
      rcpt: "450 4.2.1 The user is receiving email too quickly",
    });
    servers.push(accepting, deferring);
    const { token } = await world.key();
    const send = (to: string) =>
      world.api("POST", "/api/emails", {
        token,
        body: { from: "Ann <ann@example.org>", to, subject: "Hello", html: "<p>Hello</p>" },
      });
    await world.api("POST", "/api/webhooks", {
      token,
      body: { endpoint: `http://127.0.0.1:${sink.port}/hooks`, events: ["email.sent", "email.delivered"] },
    });
    await relayTo(world.deps, accepting, { name: "main" });
    await send("ben@gmail.com");
    await send("cy@example.net");
    await send("delivered@backstamp.test");
    await deliverDue(world.withTransport(null));
    const other = await world.otherTeam();
    await other.domain("other.example");
    await relayTo(world.deps, deferring, { name: "their secret name", teamId: other.id });
    await world.send({ sender: "dan@other.example", to: ["eve@gmail.com"] }, other.ctx);
    await tick(world.withTransport(null), { budgetMs: 20_000 });
    await send("later@example.net");
    await send("not an address");
    scraped = (await world.api("GET", "/api/metrics", { token: metricsToken })).text;
  });
  afterAll(async () => {
    await Promise.all([...servers, sink].map((server) => server.close()));
    await world.close();
  });

  test("counts what happened, by transport, provider, outcome and class", () => {
    const attempts = (transport: string, provider: string, outcome: string) =>
      sampleOf(
        "backstamp_attempts_total",
        `{transport="${transport}",provider="${provider}",outcome="${outcome}"}`,
      );
    expect(attempts("relay:main", "gmail", "accepted")).toBe(1);
    expect(attempts("relay:main", "other", "accepted")).toBe(1);
    expect(attempts("test", "test", "accepted")).toBe(1);
    expect(attempts("team_relay", "gmail", "deferred")).toBe(1);
    expect(sampleOf("backstamp_rejections_total", '{provider="gmail",outcome="deferred",class="rate"}')).toBe(
      1,
    );
    expect(sampleOf("backstamp_emails_accepted_total", "")).toBe(5);
    expect(sampleOf("backstamp_accept_seconds_count", '{result="committed"}')).toBe(5);
    expect(sampleOf("backstamp_deliveries_total", '{status="sent"}')).toBe(2);
    expect(sampleOf("backstamp_deliveries_total", '{status="delivered"}')).toBe(1);
    expect(sampleOf("backstamp_deliveries_total", '{status="queued"}')).toBe(1);
    expect(sampleOf("backstamp_webhook_attempt_seconds_count", '{result="succeeded"}')).toBeGreaterThan(0);
    expect(sampleOf("backstamp_api_request_seconds_count", '{status="4xx"}')).toBe(1);
    expect(sampleOf("backstamp_database_wait_seconds_count", '{pool="general"}')).toBeGreaterThan(0);
    expect(sampleOf("backstamp_database_wait_seconds_count", '{pool="hot"}')).toBeGreaterThan(0);
    expect(sampleOf("backstamp_limiter_fallbacks_total", "")).toBe(0);
    expect(sampleOf("process_resident_memory_bytes", "")).toBeGreaterThan(1_000_000);
  });

  test("reads the figures of the installation from the database", () => {
    expect(sampleOf("backstamp_database_up", "")).toBe(1);
    expect(sampleOf("backstamp_queue_depth", '{queue="email",state="due"}')).toBe(1);
    expect(sampleOf("backstamp_queue_depth", '{queue="email",state="later"}')).toBe(1);
    expect(sampleOf("backstamp_queue_oldest_due_seconds", '{queue="email"}')).toBeGreaterThan(0);
    expect(sampleOf("backstamp_workers_alive", "")).toBe(1);
    expect(sampleOf("backstamp_relays", '{state="ready"}')).toBe(2);
    expect(sampleOf("backstamp_leases_lapsed", '{queue="webhook"}')).toBe(0);
  });

  test("every metric of the dashboard and of the alert rules exists", () => {
    // `up` is Prometheus's own.
    const known = new Set(["up", ...samplesOf(scraped).map(({ name }) => name)]);
    const expressions = readExpressions();
    expect(expressions.length).toBeGreaterThan(35);
    const missing = expressions.flatMap(([where, expression]) =>
      metricsIn(expression)
        .filter((name) => !known.has(name))
        .map((name) => `${where}: ${name}`),
    );
    expect(missing).toEqual([]);
    for (const [where, expression] of expressions) expect(metricsIn(expression), where).not.toEqual([]);
  });

  test("contains no team, address, subject or name of a team's relay", () => {
    for (const secret of [world.ctx.teamId, "@", "example.net", "example.org", "their secret name", "Hello"])
      expect(scraped).not.toContain(secret);
  });
});

describe("the route", () => {
  const world = forAllTests(() => createWorld({ metricsToken }));

  test("is 401 with a wrong token, and reads nothing from the database for it", async () => {
    const { token } = await world.key();
    let readings = 0;
    const server = await startRest({
      ...world.deps,
      renderMetrics: async () => {
        readings += 1;
        return "";
      },
    });
    const call = (bearer?: string) =>
      callApi(server.baseUrl, "GET", "/api/metrics", bearer === undefined ? {} : { token: bearer });
    for (const wrong of [undefined, "", token, `${metricsToken}x`, metricsToken.slice(1)]) {
      const { status, text } = await call(wrong);
      expect({ status, text }).toEqual({ status: 401, text: '{"error":"Unauthorized"}' });
    }
    expect(readings).toBe(0);
    expect((await call(metricsToken)).status).toBe(200);
    expect(readings).toBe(1);
    await server.close();
  });

  test("is 404 while no token is configured, and names the setting", async () => {
    const server = await startRest({ ...world.deps, metricsToken: null });
    for (const token of ["", "null", metricsToken]) {
      expect(await callApi(server.baseUrl, "GET", "/api/metrics", { token })).toMatchObject(
        rejected(404, "BACKSTAMP_METRICS_TOKEN"),
      );
    }
    await server.close();
  });
});

test("hostile names and replies do not add series without limit", async () => {
  const { metrics, render } = createPrometheus({ version: "0.0.0", role: "worker" });
  for (let n = 0; n < 300; n++) {
    const transport = `relay:${n}"}\n# HELP ${"x".repeat(200)}`;
    const provider = PROVIDER_CLASSES[n % PROVIDER_CLASSES.length] ?? "other";
    const replyClass = REPLY_CLASSES[n % REPLY_CLASSES.length] ?? "other";
    for (const outcome of ["accepted", "deferred", "rejected", "unknown"])
      metrics.recordAttempt({ transport, provider, outcome, replyClass });
    metrics.recordDialogue(transport, 1);
  }
  const samples = samplesOf(await render());
  const count = (name: string) => samples.filter((sample) => sample.name === name).length;
  expect(count("backstamp_attempts_total")).toBeLessThanOrEqual(21 * PROVIDER_CLASSES.length * 4);
  expect(count("backstamp_rejections_total")).toBeLessThanOrEqual(
    PROVIDER_CLASSES.length * REPLY_CLASSES.length * 4,
  );
  expect(count("backstamp_smtp_seconds_count")).toBe(21);
  expect(samples.every(({ labels }) => labels.length < 300)).toBe(true);
});
