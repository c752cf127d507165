import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Built, buildDeps } from "#server/boot/deps";
import { type Door, type DoorOptions, openDoor, type Pages } from "#server/boot/node";
import { findPort } from "#server/boot/postgres/server";
import { restDoorOf } from "#server/boot/rest-door";
import { readSettings } from "#server/env";
import { silentLog } from "#server/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { freshDatabase } from "../support/postgres";

let built: Built;
let drop: () => Promise<void>;
let token: string;
let door: Door;
let pagesSaw: string[];

/** Stands where Next stands: says what reached it, and holds an answer back while a test wants it to. */
let held: Promise<void> = Promise.resolve();
const pages: Pages = {
  async request(incoming: IncomingMessage, outgoing: ServerResponse) {
    pagesSaw.push(`${incoming.method} ${incoming.url}`);
    await held;
    outgoing.end("a page");
  },
  async upgrade(incoming, socket) {
    pagesSaw.push(`upgrade ${incoming.url}`);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  },
};

const open = async (options: Partial<DoorOptions> = {}): Promise<Door> =>
  openDoor({
    host: "127.0.0.1",
    port: await findPort(),
    apiHost: null,
    rest: Promise.resolve(restDoorOf(built.forRest({ tick: async () => {} }))),
    pages,
    upgrades: true,
    log: silentLog,
    ...options,
  });

beforeAll(async () => {
  const database = await freshDatabase();
  drop = database.drop;
  const settings = readSettings({ DATABASE_URL: database.url }, "dev");
  built = buildDeps({ ...settings, databaseUrl: database.url }, { log: silentLog });
  const team = await createTeam(built.deps, { name: "First" });
  const made = await createKey(
    { ...built.deps, teamId: team.id, actor: { kind: "operator" }, requestId: "test" },
    { name: "Key", scopes: ["emails:send", "emails:read"], domains: ["posthorn.test"] },
  );
  token = made.token;
  door = await open({ apiHost: "api.example.com" });
  pagesSaw = [];
});
afterAll(async () => {
  await door.close(1_000);
  await built.close();
  await drop();
});

type Answer = { status: number; headers: Record<string, string>; body: string };

/** Everything that the server says until it closes the connection. */
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

async function ask(text: string, port = door.port): Promise<Answer> {
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

function expectOurForm(answer: Answer): void {
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect(answer.headers[name]).toMatch(/^\d+$/);
  if (answer.body !== "") expect(JSON.parse(answer.body)).toHaveProperty("error");
}

const end = "Host: localhost\r\nConnection: close\r\n\r\n";

test.each([
  ["a doubled slash", `GET /api//emails HTTP/1.1\r\n${end}`, 401],
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
  ["an expectation that nobody knows", `GET /api/emails HTTP/1.1\r\nExpect: tea\r\n${end}`, 401],
  [
    "an offer of HTTP/2",
    `GET /api/emails HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    401,
  ],
  ["a method that is none", `BREW /api/emails HTTP/1.1\r\n${end}`, 400],
  ["CONNECT", `CONNECT example.com:443 HTTP/1.1\r\n${end}`, 405],
  ["no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  ["two lengths", `POST /api/emails HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${end}`, 400],
  [
    "a length and chunks",
    `POST /api/emails HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${end}`,
    400,
  ],
  ["headers without end", `GET /api/emails HTTP/1.1\r\nX-Long: ${"x".repeat(70_000)}\r\n${end}`, 431],
])("%s is answered in the form of every other answer", async (_, text, status) => {
  const answer = await ask(text);
  expect(answer.status, answer.body).toBe(status);
  expectOurForm(answer);
  expect(pagesSaw).toEqual([]);
});

test("what cannot be read is told without a body to whoever asks by HEAD", async () => {
  const unreadable = (method: string) =>
    ask(`${method} /api/emails HTTP/1.1\r\nTransfer-Encoding: !\r\n${end}`);
  const [asked, shown] = [await unreadable("HEAD"), await unreadable("GET")];
  expect([asked.status, shown.status]).toEqual([400, 400]);
  expectOurForm(asked);
  expect({ asked: asked.body, length: asked.headers["content-length"] }).toEqual({
    asked: "",
    length: String(shown.body.length),
  });
});

test("a key works in each form of the request line, and a body comes through whole", async () => {
  const auth = `Authorization: Bearer ${token}\r\n`;
  const mail = JSON.stringify({
    from: "hello@posthorn.test",
    to: "delivered@posthorn.test",
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
  expect(pagesSaw.splice(0)).toEqual([`GET /emails/${id}`]);
});

test.each([
  ["closes the connection", "Connection: close\r\n"],
  ["leaves it open", ""],
])("a whole request that %s gets its answer, whatever follows it", async (_, connection) => {
  const mail = JSON.stringify({
    from: "hello@posthorn.test",
    to: "delivered@posthorn.test",
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

test("everything that is not REST reaches the pages as it came", async () => {
  for (const path of [
    "/",
    "/console?x=%zz",
    "/api/auth/session",
    "/api/trpc/emails.list?batch=1",
    "//api/emails",
  ])
    expect((await ask(`GET ${path} HTTP/1.1\r\n${end}`)).body).toBe("a page");
  expect(pagesSaw.splice(0)).toEqual([
    "GET /",
    "GET /console?x=%zz",
    "GET /api/auth/session",
    "GET /api/trpc/emails.list?batch=1",
    "GET //api/emails",
  ]);
});

test("what comes before the service is ready waits for it, and what cannot be read then, too", async () => {
  let ready: () => void = () => {};
  const rest = new Promise<void>((resolve) => {
    ready = resolve;
  }).then(() => restDoorOf(built.forRest({ tick: async () => {} })));
  const early = await open({ rest });
  const answers = [
    ask(`GET /api/health HTTP/1.1\r\n${end}`, early.port),
    ask(`BREW /api/health HTTP/1.1\r\n${end}`, early.port),
  ];
  expect((await ask(`GET / HTTP/1.1\r\n${end}`, early.port)).body).toBe("a page");
  ready();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 400]);
  pagesSaw.splice(0);
  await early.close(1_000);
});

test("closing answers what is under way, closes kept connections, and takes nothing new", async () => {
  const closing = await open();
  let release: () => void = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  const idle = connect(closing.port, "127.0.0.1");
  const idleEnds = listen(idle);
  idle.write(`GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => idle.once("data", resolve));
  const socket = connect(closing.port, "127.0.0.1");
  const upgraded = listen(socket);
  socket.write("GET /_next/hmr HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  const underWay = connect(closing.port, "127.0.0.1");
  const answered = listen(underWay);
  underWay.write(`GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await vi.waitFor(() => expect(pagesSaw).toContain("GET /slow"), { interval: 5 });

  const closed = closing.close(20_000);
  expect(parse(await idleEnds).status).toBe(200);
  expect(await upgraded).toContain("101 Switching Protocols");
  await expect(ask(`GET / HTTP/1.1\r\n${end}`, closing.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  release();
  expect(parse(await answered).body).toContain("a page");
  await closed;
  pagesSaw.splice(0);
});

test("closing does not wait longer than it was told to", async () => {
  const closing = await open();
  held = new Promise(() => {});
  const stuck = ask(`GET /stuck HTTP/1.1\r\n${end}`, closing.port);
  await vi.waitFor(() => expect(pagesSaw).toContain("GET /stuck"), { interval: 5 });
  await closing.close(50);
  expect((await stuck).status).toBeNaN();
  held = Promise.resolve();
  pagesSaw.splice(0);
});

test("a fault of the surface itself is still answered in its form, and logged", async () => {
  const logged: string[] = [];
  const broken = await open({
    rest: Promise.resolve({
      answer: () => Promise.reject(new Error("a bug")),
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
  expect(logged).toEqual(["door.failed"]);
  await broken.close(1_000);
});

test("a taken port is the system's own error", async () => {
  await expect(open({ port: door.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});
