import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { silentLog } from "#server/platform/log";
import { createOtel, type ExportingTracer } from "#server/platform/telemetry/otel";
import { installationSecret } from "../support/deps";
import { projectRoot } from "../support/processes/processes";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { startHttpSink } from "../support/servers/http-sink";
import { type OtlpReceiver, startOtlpReceiver } from "../support/servers/otlp-receiver";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

const eventually = { timeout: 30_000, interval: 50 };
const callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpan = "00f067aa0ba902b7";

let collector: OtlpReceiver;
let web: ExportingTracer;
beforeAll(async () => {
  collector = await startOtlpReceiver();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  web = createOtel({ version: "0.0.0", role: "web", log: silentLog });
});
afterAll(async () => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  await web.close();
  await collector.close();
});

let world: World;
beforeEach(async () => {
  world = await createWorld({ tracer: web.tracer });
});
afterEach(async () => {
  await killWorkers();
  await world.close();
});

const startWorker = (smtpPort: number, more: Record<string, string> = {}) =>
  spawnWorker({
    databaseUrl: world.databaseUrl,
    smtpUrl: `smtp://127.0.0.1:${smtpPort}`,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: "email of the test",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
      ...more,
    },
  });

async function send(headers: Record<string, string> = {}, subject = "A confidential subject") {
  const { token } = await world.key();
  const { status, body } = await world.api("POST", "/api/emails", {
    token,
    headers,
    body: { from: "Ann <ann@example.org>", to: "ben@secret.example", subject, html: "<p>Confidential</p>" },
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
  const smtp = await startSmtpTestServer();
  const endpoint = await startHttpSink();
  const { token } = await world.key();
  const hook = { endpoint: `http://127.0.0.1:${endpoint.port}/`, events: ["email.sent"] };
  expect((await world.api("POST", "/api/webhooks", { token, body: hook })).status).toBe(201);
  const id = await send({ traceparent: `00-${callerTrace}-${callerSpan}-01` });
  startWorker(smtp.port);
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
  await smtp.close();
  await endpoint.close();
});

test("a trace of a failed attempt has the code of the reply, and no trace has an address or content", async () => {
  const smtp = await startSmtpTestServer({ rcpt: "550 5.1.1 <ben@secret.example> is unknown here" });
  await send({ traceparent: "not a traceparent" });
  startWorker(smtp.port);
  const failed = await vi.waitFor(() => {
    const found = collector.spans.find(({ attributes }) => attributes["smtp.reply_code"] === 550);
    expect(found).toBeDefined();
    return found ?? expect.unreachable();
  }, eventually);
  expect(failed).toMatchObject({ name: "smtp", hasFailed: true, attributes: { "error.type": "hard" } });
  // An invalid traceparent begins a trace of its own.
  expect(spanOf(failed.traceId, "POST /api/emails").parentId).toBe("");
  for (const secret of ["ann@example", "ben@secret", "secret.example", "onfidential", "unknown here"])
    expect(collector.text().includes(secret), secret).toBe(false);
  expect(JSON.stringify(collector.spans)).not.toMatch(/@/);
  await smtp.close();
});

test("a caller that does not sample its trace is not traced, also not in the worker", async () => {
  const smtp = await startSmtpTestServer();
  const traceId = "1".repeat(32);
  await send({ traceparent: `00-${traceId}-${callerSpan}-00` });
  const traced = await send();
  startWorker(smtp.port);
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
  await vi.waitFor(() => expect(smtp.messages).toHaveLength(2), eventually);
  expect(spansOf(traceId)).toEqual([]);
  await smtp.close();
});

test("a request without a valid key writes no trace", async () => {
  const before = collector.spans.length;
  const traceparent = `00-${"2".repeat(32)}-${callerSpan}-01`;
  for (const token of ["", "wrong"])
    expect(
      (await world.api("POST", "/api/emails", { token, headers: { traceparent }, body: {} })).status,
    ).toBe(401);
  await world.api("GET", "/api/health", { headers: { traceparent } });
  await web.flush();
  expect(collector.spans.length).toBe(before);
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
