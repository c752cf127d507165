import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { silentLog } from "#server/platform/log";
import { createOtel } from "#server/platform/telemetry/otel";
import { installationSecret } from "../support/deps";
import { projectRoot } from "../support/processes/processes";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { startHttpSink } from "../support/servers/http-sink";
import { type OtlpReceiver, startOtlpReceiver } from "../support/servers/otlp-receiver";
import { type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

const eventually = { timeout: 30_000, interval: 50 };
const callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpan = "00f067aa0ba902b7";

let collector: OtlpReceiver;
let web: ReturnType<typeof createOtel>;
let world: World;
let smtp: SmtpTestServer;
beforeAll(async () => {
  collector = await startOtlpReceiver();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  web = createOtel({ version: "0.0.0", role: "web", log: silentLog });
  world = await createWorld({ tracer: web.tracer });
  smtp = await startSmtpTestServer({
    rcpt: ({ address }) =>
      address.startsWith("nobody@") ? `550 5.1.1 <${address}> is unknown here` : "250 2.1.5 ok",
  });
  spawnWorker({
    databaseUrl: world.databaseUrl,
    smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: "email of the test",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
    },
  });
});
afterAll(async () => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  await killWorkers();
  await web.close();
  await Promise.all([smtp, collector].map((server) => server.close()));
  await world.close();
});

/** Sends an email through the API, and returns its id. */
async function send(headers: Record<string, string> = {}, to = "ben@secret.example") {
  const { token } = await world.key();
  const { status, body } = await world.api("POST", "/api/emails", {
    token,
    headers,
    body: { from: "Ann <ann@example.org>", to, subject: "Confidential", html: "<p>Confidential</p>" },
  });
  expect(status).toBe(200);
  await web.flush();
  return String(body.id);
}

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const spanOf = (traceId: string, name: string) => {
  const found = spansOf(traceId).filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] ?? expect.unreachable();
};

test("one trace leads from the caller's request over the queue to the SMTP reply and the webhook", async () => {
  const endpoint = await startHttpSink();
  const { token } = await world.key();
  const hook = { endpoint: `http://127.0.0.1:${endpoint.port}/`, events: ["email.sent"] };
  expect((await world.api("POST", "/api/webhooks", { token, body: hook })).status).toBe(201);
  const id = await send({ traceparent: `00-${callerTrace}-${callerSpan}-01` });
  await vi.waitFor(() => {
    expect(
      spansOf(callerTrace)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["POST /api/emails", "accept", "attempt", "compose", "smtp", "webhook"].sort());
  }, eventually);

  const request = spanOf(callerTrace, "POST /api/emails");
  const attempt = spanOf(callerTrace, "attempt");
  const reply = spanOf(callerTrace, "smtp");
  expect(request).toMatchObject({
    parentId: callerSpan,
    resource: { "service.name": "backstamp", "backstamp.role": "web" },
    attributes: { "http.route": "/api/emails", "http.response.status_code": 200 },
  });
  expect(spanOf(callerTrace, "accept").parentId).toBe(request.spanId);
  expect(attempt).toMatchObject({
    parentId: request.spanId,
    resource: { "service.name": "email of the test", "backstamp.role": "worker" },
    attributes: { "backstamp.email_id": id, "backstamp.attempt": 1, "backstamp.result": "sent" },
  });
  expect(spanOf(callerTrace, "compose").parentId).toBe(attempt.spanId);
  expect(reply).toMatchObject({
    parentId: attempt.spanId,
    hasFailed: false,
    attributes: {
      "server.address": "127.0.0.1",
      "smtp.reply_code": 250,
      "backstamp.outcome": "accepted",
      "backstamp.transport": "smtp_url",
    },
  });
  expect(spanOf(callerTrace, "webhook")).toMatchObject({
    parentId: request.spanId,
    attributes: { "backstamp.event_type": "email.sent", "backstamp.result": "succeeded" },
  });
  await endpoint.close();
});

test("a trace of a failed attempt has the code of the reply, and no trace has an address or content", async () => {
  await send({ traceparent: "not a traceparent" }, "nobody@secret.example");
  const failed = await vi.waitFor(() => {
    const found = collector.spans.find(({ attributes }) => attributes["smtp.reply_code"] === 550);
    expect(found).toBeDefined();
    return found ?? expect.unreachable();
  }, eventually);
  expect(failed).toMatchObject({ name: "smtp", hasFailed: true, attributes: { "error.type": "hard" } });
  // An invalid traceparent begins a trace of its own.
  expect(spanOf(failed.traceId, "POST /api/emails").parentId).toBe("");
  for (const secret of [
    "ann@example",
    "ben@secret",
    "nobody@secret",
    "secret.example",
    "onfidential",
    "unknown here",
  ])
    expect(collector.text().includes(secret), secret).toBe(false);
  expect(JSON.stringify(collector.spans)).not.toMatch(/@/);
});

test("a caller that does not sample its trace is not traced, also not in the worker", async () => {
  const traceId = "1".repeat(32);
  const unsampled = await send({ traceparent: `00-${traceId}-${callerSpan}-00` });
  const traced = await send();
  await vi.waitFor(
    () =>
      expect(collector.spans).toContainEqual(
        expect.objectContaining({
          name: "attempt",
          attributes: expect.objectContaining({ "backstamp.email_id": traced }),
        }),
      ),
    eventually,
  );
  await vi.waitFor(async () => {
    expect((await world.email(unsampled)).status).toBe("sent");
  }, eventually);
  expect(spansOf(traceId)).toEqual([]);
});

test("a request without a valid key writes no trace", async () => {
  const traceId = "2".repeat(32);
  const traceparent = `00-${traceId}-${callerSpan}-01`;
  for (const token of ["", "wrong"])
    expect(
      (await world.api("POST", "/api/emails", { token, headers: { traceparent }, body: {} })).status,
    ).toBe(401);
  await world.api("GET", "/api/health", { headers: { traceparent } });
  await web.flush();
  // Spans of earlier tests may still arrive.
  expect(spansOf(traceId)).toEqual([]);
});

test("while traces are off, no package of OpenTelemetry is loaded, and nothing is stored", async () => {
  const script = `
    const { openTelemetry } = await import("./server/startup/telemetry/open.ts");
    const { silentLog } = await import("./server/platform/log.ts");
    const { createRequire } = await import("node:module");
    const off = await openTelemetry({ metricsToken: null, areTracesExported: false }, { role: "web", log: silentLog });
    const { cache } = createRequire(import.meta.url);
    const count = () => Object.keys(cache).filter((file) => /opentelemetry|prom-client/.test(file)).length;
    const before = count();
    await openTelemetry({ metricsToken: "x", areTracesExported: true }, { role: "web", log: silentLog });
    console.log(JSON.stringify({ tracer: off.tracer, metrics: off.metrics, off: before, isLoadedWhenOn: count() > 10 }));
    process.exit();`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", script],
    { cwd: projectRoot, encoding: "utf8" },
  );
  expect(stdout, stderr).toBe('{"tracer":null,"metrics":null,"off":0,"isLoadedWhenOn":true}\n');
  const plain = await createWorld();
  await plain.send();
  expect(await plain.hot`select traceparent from emails`).toEqual([{ traceparent: null }]);
  await plain.close();
});
