import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import {
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
  type Pages,
} from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { forAllTests } from "../support/fixtures";
import { createGate } from "../support/gate";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
let token: string;
let server: HttpServer;
let pageRequests: string[];

/** A stub in place of Next: records its requests, and delays a response while a test requires it. */
let held: Promise<void> = Promise.resolve();
const pages: Pages = {
  async request(incoming: IncomingMessage, outgoing: ServerResponse) {
    pageRequests.push(`${incoming.method} ${incoming.url}`);
    await held;
    outgoing.end("a page");
  },
  async upgrade(incoming, socket) {
    pageRequests.push(`upgrade ${incoming.url}`);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  },
};

const open = async (options: Partial<HttpServerOptions> = {}): Promise<HttpServer> =>
  openHttpServer({
    host: "127.0.0.1",
    port: 0,
    apiHost: null,
    rest: Promise.resolve(createRestApi(world.deps)),
    pages,
    upgrades: true,
    log: silentLog,
    ...options,
  });

beforeAll(async () => {
  ({ token } = await world.key({ scopes: ["emails:send", "emails:read"] }));
  server = await open({ apiHost: "api.example.com" });
  pageRequests = [];
});
afterAll(() => server.close(1_000));

type Answer = { status: number; headers: Record<string, string>; body: string };

/** All bytes that the server sends until it closes the connection. */
function listen(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    socket.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
    });
    socket.once("close", () => resolve(said));
    socket.once("error", reject);
  });
}

async function ask(text: string, port = server.port): Promise<Answer> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  return parse(await listen(socket));
}

function parse(said: string): Answer {
  const [head = "", ...rest] = said.split("\r\n\r\n");
  const [line = "", ...fields] = head.split("\r\n");
  const headers = fields.map((field) => {
    const at = field.indexOf(":");
    return [field.slice(0, at).toLowerCase(), field.slice(at + 1).trim()] as const;
  });
  return {
    status: Number(line.split(" ")[1]),
    headers: Object.fromEntries(headers),
    body: rest.join("\r\n\r\n"),
  };
}

function expectApiFormat(answer: Answer): void {
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect(answer.headers[name]).toMatch(/^\d+$/);
  if (answer.body !== "") expect(JSON.parse(answer.body)).toHaveProperty("error");
}

const end = "Host: localhost\r\nConnection: close\r\n\r\n";

test.each([
  ["a double slash", `GET /api//emails HTTP/1.1\r\n${end}`, 401],
  ["broken percent-encoding", `GET /api/%zz/%c0%ae HTTP/1.1\r\n${end}`, 401],
  ["dot segments", `GET /api/emails/../../api/emails HTTP/1.1\r\n${end}`, 401],
  ["the absolute form", `GET http://elsewhere.example/api/emails HTTP/1.1\r\n${end}`, 401],
  ["OPTIONS", `OPTIONS /api/emails HTTP/1.1\r\n${end}`, 401],
  ["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${end}`, 401],
  ["TRACE", `TRACE /api/emails HTTP/1.1\r\n${end}`, 401],
  ["PROPFIND", `PROPFIND /api/emails HTTP/1.1\r\n${end}`, 401],
  ["HEAD", `HEAD /api/emails HTTP/1.1\r\n${end}`, 401],
  ["no host at all", "GET /api/emails HTTP/1.1\r\nConnection: close\r\n\r\n", 401],
  ["HTTP/1.0", "GET /api/emails HTTP/1.0\r\n\r\n", 401],
  ["an impossible host", "GET /api/emails HTTP/1.1\r\nHost: a b/c@[\r\nConnection: close\r\n\r\n", 401],
  ["an unknown expectation", `GET /api/emails HTTP/1.1\r\nExpect: tea\r\n${end}`, 401],
  [
    "an offer of HTTP/2",
    `GET /api/emails HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    401,
  ],
  ["an unknown method", `BREW /api/emails HTTP/1.1\r\n${end}`, 400],
  ["CONNECT", `CONNECT example.com:443 HTTP/1.1\r\n${end}`, 405],
  ["input that is not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  ["two lengths", `POST /api/emails HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${end}`, 400],
  [
    "a length and chunks",
    `POST /api/emails HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${end}`,
    400,
  ],
  ["headers that are too long", `GET /api/emails HTTP/1.1\r\nX-Long: ${"x".repeat(70_000)}\r\n${end}`, 431],
])("the response to %s has the API's error format", async (_, text, status) => {
  const answer = await ask(text);
  expect(answer.status, answer.body).toBe(status);
  expectApiFormat(answer);
  expect(pageRequests).toEqual([]);
});

test("the error response to an unparsable HEAD request has no body", async () => {
  const unreadable = (method: string) =>
    ask(`${method} /api/emails HTTP/1.1\r\nTransfer-Encoding: !\r\n${end}`);
  const [asked, shown] = [await unreadable("HEAD"), await unreadable("GET")];
  expect([asked.status, shown.status]).toEqual([400, 400]);
  expectApiFormat(asked);
  expect({ asked: asked.body, length: asked.headers["content-length"] }).toEqual({
    asked: "",
    length: String(shown.body.length),
  });
});

test("a key works in each form of the request line, and the body arrives complete", async () => {
  const auth = `Authorization: Bearer ${token}\r\n`;
  const mail = JSON.stringify({
    from: "hello@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "é".repeat(400),
    html: `<p>${"x".repeat(300_000)}</p>`,
  });
  const posted = await ask(
    `POST http://localhost/api/emails HTTP/1.1\r\n${auth}Content-Type: application/json\r\nExpect: 100-continue\r\n` +
      `Content-Length: ${Buffer.byteLength(mail)}\r\n${end}${mail}`,
  );
  expect(posted.status).toBe(100);
  const answer = parse(posted.body);
  expect(answer.status).toBe(200);
  const { id } = JSON.parse(answer.body);
  const read = await ask(
    `GET /emails/${id} HTTP/1.1\r\n${auth}Host: api.example.com\r\nConnection: close\r\n\r\n`,
  );
  expect(read.status).toBe(200);
  expect(JSON.parse(Buffer.from(read.body, "latin1").toString())).toMatchObject({
    id,
    subject: "é".repeat(400),
  });
  expect((await ask(`GET /emails/${id} HTTP/1.1\r\n${auth}${end}`)).body).toBe("a page");
  expect(pageRequests.splice(0)).toEqual([`GET /emails/${id}`]);
});

test.each([
  ["closes the connection", "Connection: close\r\n"],
  ["leaves it open", ""],
])("a complete request that %s gets its response, whatever follows it", async (_, connection) => {
  const mail = JSON.stringify({
    from: "hello@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "Hello",
    html: "x",
  });
  const answer = await ask(
    `POST /api/emails HTTP/1.1\r\nHost: localhost\r\n${connection}Authorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${mail.length}\r\n\r\n${mail}BREW tea\r\n\r\n`,
  );
  expect(answer.status, answer.body).toBe(200);
  expect(JSON.parse(answer.body)).toEqual({ id: expect.any(String) });
});

test("all requests outside the REST API reach the pages unchanged", async () => {
  for (const path of [
    "/",
    "/console?x=%zz",
    "/api/auth/session",
    "/api/trpc/emails.list?batch=1",
    "//api/emails",
  ])
    expect((await ask(`GET ${path} HTTP/1.1\r\n${end}`)).body).toBe("a page");
  expect(pageRequests.splice(0)).toEqual([
    "GET /",
    "GET /console?x=%zz",
    "GET /api/auth/session",
    "GET /api/trpc/emails.list?batch=1",
    "GET //api/emails",
  ]);
});

test.each([
  ["TRACE /login", "", 405],
  ["PROPFIND /api/trpc/emails.list", "", 405],
  ["TRACE /api/auth/session", "Connection: Upgrade\r\nUpgrade: websocket\r\n", 405],
  ["GET /console/emails/%E0%A4%A", "", 400],
  ["GET /api/trpc/%zz", "", 400],
  ["POST /api/auth/%zz", "", 400],
  ["HEAD /login/%zz", "", 400],
  ["GET /login/a%00b", "", 400],
  ["GET /login", "RSC: 1\r\nNext-Router-State-Tree: x\r\nConnection: close\r\n", 400],
  ["GET http://localhost/docs/%zz", "Connection: Upgrade\r\nUpgrade: websocket\r\n", 400],
])("%s is rejected before it reaches the pages", async (line, fields, status) => {
  const answer = await ask(`${line} HTTP/1.1\r\n${fields || "Connection: close\r\n"}Host: localhost\r\n\r\n`);
  expect(answer.status, answer.body).toBe(status);
  expectApiFormat(answer);
  if (status === 405) expect(answer.headers.allow).toBe("GET, HEAD, POST");
  if (line.startsWith("HEAD")) expect(answer.body).toBe("");
  else
    expect(JSON.parse(answer.body).message).toMatch(
      status === 405 ? /^(TRACE|PROPFIND) is not supported/ : /percent-encod|router-state/,
    );
  expect(pageRequests).toEqual([]);
});

test("requests and unparsable input wait until the service is ready", async () => {
  const { passed, open: ready } = createGate();
  const rest = passed.then(() => createRestApi(world.deps));
  const early = await open({ rest });
  const answers = [
    ask(`GET /api/health HTTP/1.1\r\n${end}`, early.port),
    ask(`BREW /api/health HTTP/1.1\r\n${end}`, early.port),
  ];
  expect((await ask(`GET / HTTP/1.1\r\n${end}`, early.port)).body).toBe("a page");
  ready();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 400]);
  pageRequests.splice(0);
  await early.close(1_000);
});

test("closing completes requests in progress, closes idle connections, and accepts no new ones", async () => {
  const closing = await open();
  const { passed, open: release } = createGate();
  held = passed;
  const idle = connect(closing.port, "127.0.0.1");
  const idleEnds = listen(idle);
  idle.write(`GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => idle.once("data", resolve));
  const socket = connect(closing.port, "127.0.0.1");
  const upgraded = listen(socket);
  socket.write("GET /_next/hmr HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  const inProgress = connect(closing.port, "127.0.0.1");
  const answered = listen(inProgress);
  inProgress.write(`GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await expect.poll(() => pageRequests, { interval: 5 }).toContain("GET /slow");

  const closed = closing.close(20_000);
  expect(parse(await idleEnds).status).toBe(200);
  expect(await upgraded).toContain("101 Switching Protocols");
  await expect(ask(`GET / HTTP/1.1\r\n${end}`, closing.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  release();
  expect(parse(await answered).body).toContain("a page");
  await closed;
  pageRequests.splice(0);
});

test("closing does not wait longer than the grace period", async () => {
  const closing = await open();
  held = new Promise(() => {});
  const stuck = ask(`GET /stuck HTTP/1.1\r\n${end}`, closing.port);
  await expect.poll(() => pageRequests, { interval: 5 }).toContain("GET /stuck");
  await closing.close(50);
  expect((await stuck).status).toBeNaN();
  held = Promise.resolve();
  pageRequests.splice(0);
});

test("an error of the REST API itself is logged and gets a response in the API's error format", async () => {
  const logged: string[] = [];
  const broken = await open({
    rest: Promise.resolve({
      answer: () => Promise.reject(new Error("a bug")),
      isTrackingHost: async () => false,
      limitHeaders: async () => ({
        "x-ratelimit-limit": "1",
        "x-ratelimit-remaining": "1",
        "x-ratelimit-reset": "1",
      }),
    }),
    log: { ...silentLog, error: (event) => logged.push(event) },
  });
  const answer = await ask(`GET /api/emails HTTP/1.1\r\n${end}`, broken.port);
  expect(answer.status).toBe(500);
  expect(answer.headers).toMatchObject({ "x-ratelimit-limit": "1" });
  expect(JSON.parse(answer.body)).toMatchObject({ statusCode: 500 });
  expect(logged).toEqual(["http.failed"]);
  await broken.close(1_000);
});

test.each([
  ["REST", "/api/emails"],
  ["pages", "/api/auth/callback/credentials"],
])(
  "a request to %s with an incomplete body gets 408 and is closed after the request timeout",
  async (_, path) => {
    const strict = await open({ requestMs: 300 });
    held = new Promise(() => {});
    const answer = await ask(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
      strict.port,
    );
    expect(answer.status).toBe(408);
    expectApiFormat(answer);
    held = Promise.resolve();
    pageRequests.splice(0);
    await strict.close(1_000);
  },
);

test("a port in use rejects with the system error", async () => {
  await expect(open({ port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});
