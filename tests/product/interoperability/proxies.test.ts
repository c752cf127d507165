import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { sseHeaders } from "@trpc/server/unstable-core-do-not-import";
import nodemailer from "nodemailer";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { silentLog } from "#server/platform/log";
import { type HttpServer, openHttpServer, type Pages } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { openInbound } from "#server/startup/smtp/inbound";
import { openSubmission } from "#server/startup/smtp/submission";
import { forAllTests } from "../../support/fixtures";
import { projectRoot } from "../../support/processes/processes";
import { makeCertificate } from "../../support/servers/certificate";
import { freePort } from "../../support/servers/free-port";
import { createWorld } from "../../support/world";
import { prepareCaddy } from "./caddy";

const hasProxies = ["nginx", "caddy"].every((name) => spawnSync("which", [name]).status === 0);
const recipe = (name: string): string => readFileSync(path.join(projectRoot, ".github/deploy", name), "utf8");
const folder = mkdtempSync(path.join(tmpdir(), "backstamp-proxies-"));
const inFolder = (name: string, content: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

const world = forAllTests(() => createWorld({ trustedHops: 1 }));
let server: HttpServer;
let token: string;
let finishPage: () => void = () => {};
let sendEvent: (data: string) => void = () => {};
let openConnections = 0;
const children: ChildProcess[] = [];

/**
 * In place of Next: a page in two parts, of which the second is sent on request, server-sent events with the
 * headers of tRPC, and a WebSocket that echoes.
 */
const pages: Pages = {
  async request(incoming, outgoing) {
    if (incoming.url === "/api/trpc/live.changes") {
      outgoing.writeHead(200, sseHeaders);
      sendEvent = (data) => void outgoing.write(`data: ${data}\n\n`);
      sendEvent("connected");
      openConnections++;
      await once(outgoing, "close");
      openConnections--;
      return;
    }
    outgoing.writeHead(200, { "content-type": "text/html" }).write(`first part ${" ".repeat(4_096)}`);
    await new Promise<void>((resolve) => {
      finishPage = resolve;
    });
    outgoing.end("second part");
  },
  async upgrade(_incoming, socket) {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    socket.pipe(socket);
  },
};

beforeAll(async () => {
  ({ token } = await world.key({ scopes: ["emails:send", "emails:read"] }));
  server = await openHttpServer({
    host: "127.0.0.1",
    port: await freePort(),
    apiHost: null,
    rest: Promise.resolve(createRestApi(world.deps)),
    pages,
    upgrades: true,
    log: silentLog,
  });
});
afterAll(async () => {
  for (const child of children) {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  await server.close(1_000);
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a proxy in the foreground and waits until it accepts connections. */
async function start(port: number, command: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`${command} exited: ${output}`);
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.destroy();
    },
    { timeout: 30_000, interval: 100 },
  );
}

/** Replaces ports and files of a recipe for nginx, tests the result with `nginx -t`, and starts it. */
async function startNginx(site: string, port: number, replace: [RegExp, string][], modules = "") {
  const edited = replace.reduce((text, [pattern, to]) => text.replaceAll(pattern, to), recipe(site));
  const inner = site === "nginx.conf" ? `http { access_log off; ${edited} }` : edited;
  const config = inFolder(
    `${site}.whole`,
    `daemon off; pid ${folder}/${site}.pid; error_log stderr; ${modules} events {}\n${inner}`,
  );
  execFileSync("nginx", ["-t", "-q", "-p", folder, "-c", config]);
  await start(port, "nginx", ["-p", folder, "-c", config]);
}

async function openNginx(): Promise<number> {
  const [port, plainPort] = [await freePort(), await freePort()];
  const { key, cert } = makeCertificate({ names: ["mail.example.com"] });
  await startNginx("nginx.conf", port, [
    [/.*listen \[::\].*\n/g, ""],
    [/listen 80;/g, `listen 127.0.0.1:${plainPort};`],
    [/listen 443 ssl/g, `listen 127.0.0.1:${port} ssl`],
    [/127\.0\.0\.1:3000/g, `127.0.0.1:${server.port}`],
    [/\/etc\/ssl\/certs\/\S+\.pem/g, inFolder("cert.pem", cert)],
    [/\/etc\/ssl\/private\/\S+\.key/g, inFolder("key.pem", key)],
  ]);
  const plain = await fetch(`http://127.0.0.1:${plainPort}/login`, { redirect: "manual" });
  expect(plain.status).toBe(308);
  return port;
}

async function openCaddy(): Promise<number> {
  const [port, plainPort] = [await freePort(), await freePort()];
  const { args, env } = prepareCaddy(folder, { port, plainPort, upstreamPort: server.port });
  await start(port, "caddy", args, env);
  return port;
}

type Call = { path: string; method?: string; headers?: Record<string, string>; body?: string | Buffer };

/** Opens a request over TLS. Resolves with the head of the response. */
async function open(port: number, { path: target, method = "GET", headers, body }: Call) {
  const outgoing = request({
    port,
    path: target,
    method,
    servername: "mail.example.com",
    rejectUnauthorized: false,
    headers: { host: "mail.example.com", ...headers },
    agent: false,
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return incoming;
}

async function ask(port: number, call: Call) {
  const incoming = await open(port, call);
  const text = Buffer.concat(await incoming.toArray()).toString();
  return { status: incoming.statusCode, headers: incoming.headers, text };
}

const emailOf = (bytes: number) => ({
  from: "hello@backstamp.test",
  to: "delivered@backstamp.test",
  subject: "Through a proxy",
  text: "Hello",
  ...(bytes > 0 && { attachments: [{ filename: "a.bin", content: randomBytes(bytes).toString("base64") }] }),
});

describe.runIf(hasProxies).each([
  ["nginx", openNginx],
  ["Caddy", openCaddy],
] as const)("through the recipe for %s", (_, openProxy) => {
  let port: number;
  beforeAll(async () => {
    port = await openProxy();
    // Caddy accepts connections before it has its certificate.
    await vi.waitFor(() => ask(port, { path: "/api/health" }), { timeout: 30_000, interval: 50 });
  }, 60_000);

  const post = (bytes: number) =>
    ask(port, {
      path: "/api/emails",
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(emailOf(bytes)),
    });

  test("an email is accepted, also one of several megabytes", async () => {
    expect(await post(0)).toMatchObject({ status: 200, text: expect.stringContaining('"id"') });
    expect(await post(6_000_000)).toMatchObject({ status: 200 });
  });

  test("a body that is too large is rejected by Backstamp, in the format of the API", async () => {
    const tooLarge = await post(39_000_000);
    expect(tooLarge.status).toBe(413);
    expect(JSON.parse(tooLarge.text)).toMatchObject({ statusCode: 413 });
    expect(tooLarge.headers).toHaveProperty("x-ratelimit-limit");
  });

  test("a forged X-Forwarded-For does not change the client's address", async () => {
    const remainingOf = async (forged: string) => {
      const headers = { "x-forwarded-for": forged, authorization: "Bearer re_wrong" };
      const response = await ask(port, { path: "/api/emails", headers });
      expect(response.status).toBe(401);
      return Number(response.headers["x-ratelimit-remaining"]);
    };
    const first = await remainingOf("203.0.113.1");
    // Another address would have its own, complete limit.
    expect(await remainingOf("203.0.113.2, 198.51.100.7")).toBeLessThan(first);
  });

  test("a page is passed on while it is written", async () => {
    const incoming = await open(port, { path: "/login" });
    const [first] = (await once(incoming, "data")) as [Buffer];
    expect(first.toString()).toContain("first part");
    expect(first.toString()).not.toContain("second part");
    finishPage();
    const rest = Buffer.concat(await incoming.toArray()).toString();
    expect(rest).toContain("second part");
  });

  test("server-sent events are passed on one by one, and the end of the connection is, too", async () => {
    const headers = { accept: "text/event-stream", "accept-encoding": "gzip, deflate, br, zstd" };
    const incoming = await open(port, { path: "/api/trpc/live.changes", headers });
    expect(incoming.headers["content-type"]).toBe("text/event-stream");
    expect(incoming.headers).not.toHaveProperty("content-encoding");
    // Each event is far smaller than any buffer of a proxy, and is read before the next one is written.
    const events = incoming[Symbol.asyncIterator]();
    for (const data of ["connected", "first", "second"]) {
      if (data !== "connected") sendEvent(data);
      expect(String((await events.next()).value)).toBe(`data: ${data}\n\n`);
    }
    incoming.destroy();
    await vi.waitFor(() => expect(openConnections).toBe(0), { timeout: 30_000 });
  });

  test("a WebSocket is passed on in both directions", async () => {
    const outgoing = request({
      port,
      path: "/socket",
      servername: "mail.example.com",
      rejectUnauthorized: false,
      agent: false,
      headers: {
        host: "mail.example.com",
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
    });
    outgoing.end();
    const [response, socket] = await once(outgoing, "upgrade");
    expect(response.statusCode).toBe(101);
    socket.write("there and back");
    const [echo] = (await once(socket, "data")) as [Buffer];
    expect(echo.toString()).toBe("there and back");
    socket.destroy();
  });
});

test.runIf(hasProxies)("nginx passes bounces and submission on, and TLS ends in Backstamp", async () => {
  const [inboundPort, port, smtpPort, securePort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const hostname = "mail.example.com";
  const certificate = makeCertificate({ names: [hostname] });
  const listener = await openInbound({ inboundPort, host: "127.0.0.1", hostname }, world.deps);
  const certificateFiles = {
    cert: inFolder("smtp-cert.pem", certificate.cert),
    key: inFolder("smtp-key.pem", certificate.key),
  };
  const free = { host: "127.0.0.1", port: 0 };
  const submission = await openSubmission(
    { hostname, submission: { startTls: free, implicitTls: free, certificateFiles } },
    world.deps,
  );
  await startNginx(
    "nginx-smtp.conf",
    port,
    [
      [/.*listen \[::\].*\n/g, ""],
      [/listen 25;/g, `listen 127.0.0.1:${port};`],
      [/listen 587;/g, `listen 127.0.0.1:${smtpPort};`],
      [/listen 465;/g, `listen 127.0.0.1:${securePort};`],
      [/127\.0\.0\.1:2525/g, `127.0.0.1:${inboundPort}`],
      [/127\.0\.0\.1:2587/g, `127.0.0.1:${submission.port}`],
      [/127\.0\.0\.1:2465/g, `127.0.0.1:${submission.securePort}`],
    ],
    "load_module /usr/lib/nginx/modules/ngx_stream_module.so;",
  );
  const socket = connect(port, "127.0.0.1");
  const [greeting] = (await once(socket, "data")) as [Buffer];
  expect(greeting.toString()).toMatch(/^220 mail\.example\.com /);
  socket.write("EHLO client.example\r\n");
  const [reply] = (await once(socket, "data")) as [Buffer];
  expect(reply.toString()).toMatch(/^250/);
  socket.destroy();

  const submit = (to: { port: number; secure: boolean }) => {
    const transport = nodemailer.createTransport({
      host: "127.0.0.1",
      ...to,
      requireTLS: true,
      // The certificate is the one of Backstamp.
      tls: { ca: certificate.cert, servername: hostname },
      auth: { user: "backstamp", pass: token },
    });
    const { from, ...rest } = emailOf(0);
    return transport.sendMail({ from, ...rest }).finally(() => transport.close());
  };
  for (const to of [
    { port: smtpPort, secure: false },
    { port: securePort, secure: true },
  ])
    expect((await submit(to)).response).toMatch(/^250/);
  await submission.close();
  await listener?.close();
});
