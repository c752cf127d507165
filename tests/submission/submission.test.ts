import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { getSource } from "#server/services/emails/read/source";
import { updateKey } from "#server/services/keys/keys";
import { startSubmission } from "#server/submission/listener";
import { deliverDue } from "../support/pump-engine";
import { openWorld, type World } from "../support/world";
import { idIn, openClient, openInMessage, openLoggedIn, submit } from "./client";

const OPTIONS = {
  host: "127.0.0.1",
  port: 0,
  name: "mail.example.com",
  certificate: null,
  isImplicitTls: false,
};

const world = await openWorld();
const token = (await world.key({ scopes: ["emails:send"] })).token;
const listener = await startSubmission(world.deps, OPTIONS);
afterAll(() => listener.close());
beforeEach(async () => {
  await world.hot`delete from emails`;
});

/** A listener whose dependencies differ, for one test. */
async function withListener(
  change: Partial<World["deps"]>,
  test: (port: number) => Promise<void>,
): Promise<void> {
  const other = await startSubmission({ ...world.deps, ...change }, OPTIONS);
  try {
    await test(other.port);
  } finally {
    await other.close();
  }
}

const MESSAGE = [
  "Received: from app by app; Mon, 2 Nov 2026 10:00:00 +0100",
  "Return-Path: <x@example.org>",
  "From: =?utf-8?q?=C3=84nn?= <ann@example.org>",
  "to: Ben   <ben@example.net>, other@example.net",
  "Cc: carl@example.net",
  "Bcc: dora@example.net",
  "Reply-To: help@example.org",
  "subject:  =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
  "X-Mailer: Test 1.0",
  "Date: Mon, 2 Nov 2026 10:00:00 +0100",
  "Message-ID: <app-1@example.org>",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b",
  "Content-Type: text/html; charset=utf-8",
  "Content-Transfer-Encoding: 8bit",
  "",
  "<p>Größe</p>",
  "--b",
  "Content-Type: text/csv; name=list.csv",
  "Content-Transfer-Encoding: base64",
  "",
  "YSxi",
  "--b--",
  "",
].join("\r\n");
const SIMPLE = "From: ann@example.org\r\nTo: ben@example.net\r\nSubject: Hello\r\n\r\nHello\r\n";
test("a key is accepted only from its client networks, also within an open connection", async () => {
  const { id, token: limited } = await world.key({ scopes: ["emails:send"] });
  const limitTo = (clientNetworks: string[]) => updateKey(world.ctx, id, { clientNetworks });
  await limitTo(["127.0.0.0/8"]);
  expect(await submit(listener.port, limited, { raw: SIMPLE })).toMatchObject({ code: 250 });
  await limitTo(["192.0.2.0/24"]);
  const refused = await submit(listener.port, limited, { raw: SIMPLE });
  expect(refused).toMatchObject({ code: 535, reply: expect.stringContaining("client address 127.0.0.1") });
  expect(await countEmails()).toBe(1);
});

const countEmails = async () => (await world.hot`select from emails`).length;

test("a message is accepted, is shown like an email of the API, and is sent byte for byte", async () => {
  const to = ["ben@example.net", "carl@example.net", "dora@example.net"];
  const { code, reply } = await submit(listener.port, token, { to, raw: MESSAGE });
  expect(code).toBe(250);
  const reader = await world.key({ scopes: ["full_access"] });
  const { body } = await world.api("GET", `/api/emails/${idIn(reply)}`, { token: reader.token });
  expect(body).toMatchObject({
    from: "Änn <ann@example.org>",
    to: ["Ben <ben@example.net>"],
    cc: ["carl@example.net"],
    bcc: ["dora@example.net"],
    reply_to: ["help@example.org"],
    subject: "Grüße",
    html: "<p>Größe</p>",
    message_id: "<app-1@example.org>",
    headers: { "X-Mailer": "Test 1.0" },
  });
  const files = await world.api("GET", `/api/emails/${idIn(reply)}/attachments`, { token: reader.token });
  expect(files.body.data).toMatchObject([{ filename: "list.csv", content_type: "text/csv", size: 3 }]);

  await deliverDue(world.withTransport());
  const { bytes, kind } = await getSource(world.ctx, idIn(reply));
  const removed = /^(Received|Return-Path|Bcc): .*\r\n/gm;
  const sent = Buffer.from(bytes)
    .toString()
    .replace(/^(DKIM-Signature:.*(\r\n[ \t].*)*\r\n)*/, "");
  expect(kind).toBe("captured");
  expect(sent).toBe(MESSAGE.replace(removed, ""));
  const email = await world.email(idIn(reply));
  expect(email.deliveries.map(({ address }) => address)).toEqual(to);
});

test.each(["backstamp", "Resend"])("the user %s logs in with an API key by PLAIN and LOGIN", async (user) => {
  for (const method of ["PLAIN", "LOGIN"]) {
    const options = { auth: { user, pass: token }, authMethod: method };
    expect((await submit(listener.port, token, { raw: SIMPLE }, options)).code).toBe(250);
  }
});

test("a wrong key or user is 535, and nothing is accepted without a login", async () => {
  const { id, token: revoked } = await world.key();
  await world.revoke(id);
  for (const [user, pass] of [
    ["backstamp", "re_wrong_0000000000000000"],
    ["backstamp", revoked],
    ["admin", token],
  ])
    expect((await submit(listener.port, token, { raw: SIMPLE }, { auth: { user, pass } })).code).toBe(535);
  const client = await openClient(listener.port);
  await client.send("EHLO app.example.com");
  expect(await client.send("MAIL FROM:<ann@example.org>")).toMatch(/^530 .*API key/);
  expect(await client.send("RCPT TO:<ben@example.net>")).toMatch(/^530/);
  expect(await client.send("DATA")).toMatch(/^530/);
  client.socket.destroy();
  expect(await countEmails()).toBe(0);
});

test("EHLO announces PIPELINING, 8BITMIME, SMTPUTF8, SIZE, DSN and AUTH, and no TLS without a certificate", async () => {
  const client = await openClient(listener.port);
  const offers = (await client.send("EHLO app.example.com")).split("\n").map((line) => line.slice(4));
  expect(offers).toEqual(
    expect.arrayContaining([
      "PIPELINING",
      "8BITMIME",
      "SMTPUTF8",
      "DSN",
      `SIZE ${48 * 1024 * 1024}`,
      "AUTH PLAIN LOGIN",
    ]),
  );
  expect(offers).not.toContain("STARTTLS");
  client.socket.destroy();
});

test("pipelined commands with DSN and SMTPUTF8 parameters and a null sender are accepted", async () => {
  const client = await openLoggedIn(listener.port, token);
  client.socket.write(
    "MAIL FROM:<> BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=abc\r\nRCPT TO:<ben@example.net> NOTIFY=NEVER ORCPT=rfc822;ben@example.net\r\nDATA\r\n",
  );
  expect(
    [await client.nextReply(), await client.nextReply(), await client.nextReply()].map((line) =>
      line.slice(0, 3),
    ),
  ).toEqual(["250", "250", "354"]);
  expect(await client.send(`${SIMPLE}.`)).toMatch(/^250 2\.0\.0 Accepted as /);
  client.socket.destroy();
});

test("a client that disconnects within a message stores nothing, and the next message is accepted", async () => {
  const client = await openInMessage(listener.port, token);
  client.socket.end(SIMPLE);
  expect(await client.nextReply()).not.toMatch(/^250/);
  expect((await submit(listener.port, token, { raw: SIMPLE })).code).toBe(250);
  expect(await countEmails()).toBe(1);
});

test("a sender domain that is not the key's is 550, whatever the envelope sender is", async () => {
  await world.domain("linked.example");
  const linked = await world.key({ scopes: ["emails:send"], domains: ["linked.example"] });
  const { code, reply } = await submit(listener.port, linked.token, {
    from: "a@linked.example",
    raw: SIMPLE,
  });
  expect(code).toBe(550);
  expect(reply).toMatch(/5\.7\.1 .*not linked to example\.org/);
  const foreign = SIMPLE.replace("ann@example.org", "ann@foreign.example");
  expect((await submit(listener.port, token, { from: "ann@example.org", raw: foreign })).reply).toMatch(
    /^550 5\.7\.1 foreign\.example is not a domain of this team/,
  );
  expect(await countEmails()).toBe(0);
});

test("a key without the scope emails:send is rejected at MAIL", async () => {
  const reader = await world.key({ scopes: ["emails:read"] });
  expect((await submit(listener.port, reader.token, { raw: SIMPLE })).reply).toMatch(/^550 .*emails:send/);
});

test("a key revoked during a connection is rejected at the message in progress and at the next one", async () => {
  const { id, token: own } = await world.key();
  const client = await openInMessage(listener.port, own);
  const before = await countEmails();
  await world.revoke(id);
  expect(await client.send(`${SIMPLE}\r\n.`)).toMatch(/^535 5\.7\.8 The API key is no longer valid/);
  expect(await countEmails()).toBe(before);
  expect(await client.send("MAIL FROM:<a@example.org>")).toMatch(/^530 5\.7\.0/);
  client.socket.destroy();
});

test("each message counts as one POST /api/emails; over the limit it is 451 4.7.1 with the seconds", async () => {
  const own = await world.key({ limits: { "POST /api/emails": 2 } });
  const body = { from: "ann@example.org", to: "ben@example.net", subject: "x", text: "x" };
  expect((await world.api("POST", "/api/emails", { token: own.token, body })).status).toBe(200);
  expect((await submit(listener.port, own.token, { raw: SIMPLE })).code).toBe(250);
  expect((await submit(listener.port, own.token, { raw: SIMPLE })).reply).toMatch(
    /^451 4\.7\.1 Rate limit exceeded, try again in \d+ seconds$/,
  );
  expect((await world.api("POST", "/api/emails", { token: own.token, body })).status).toBe(429);
  expect(await countEmails()).toBe(2);
});

test.each([
  ["a bare LF", "From: ann@example.org\r\n\r\none\ntwo\r\n", /bare LF/],
  ["a bare CR", "From: ann@example.org\r\n\r\none\rtwo\r\n", /bare CR/],
  ["a line of 999 octets", `From: ann@example.org\r\n\r\n${"x".repeat(999)}\r\n`, /999 octets/],
  ["no From header", "Subject: x\r\n\r\nx\r\n", /no From header/],
  ["two From headers", `From: ann@example.org\r\n${SIMPLE}`, /more than one From/],
  ["a field by which a relay adds recipients", `X-SMTPAPI: {}\r\n${SIMPLE}`, /cannot be set/],
  ["a smuggled second message", `${SIMPLE}\n.\r\nMAIL FROM:<eve@example.net>\r\n`, /bare LF/],
])("%s is rejected with 550 before acceptance", async (_name, raw, reason) => {
  const client = await openInMessage(listener.port, token);
  const reply = await client.send(Buffer.from(`${raw}\r\n.\r\n`, "latin1"));
  expect(reply).toMatch(/^550 /);
  expect(reply).toMatch(reason);
  client.socket.destroy();
  expect(await countEmails()).toBe(0);
});

test("a message above the limit is 552, announced at MAIL or measured", async () => {
  const bodyMaxBytes = 64 * 1024;
  await withListener({ bodyMaxBytes }, async (port) => {
    const client = await openLoggedIn(port, token);
    expect(await client.send(`MAIL FROM:<a@example.org> SIZE=${bodyMaxBytes + 1}`)).toMatch(/^552/);
    await client.send("MAIL FROM:<a@example.org>");
    await client.send("RCPT TO:<ben@example.net>");
    await client.send("DATA");
    expect(await client.send(Buffer.from(`${SIMPLE}${"line\r\n".repeat(20_000)}.\r\n`))).toMatch(/^552/);
    expect(await client.send("NOOP")).toMatch(/^250/);
    client.socket.destroy();
  });
  expect(await countEmails()).toBe(0);
});

test("a large file is accepted whole, and recipients in no header are hidden ones", async () => {
  const content = randomBytes(500_000);
  const lines = content.toString("base64").replace(/.{76}/g, "$&\r\n");
  const raw = `From: ann@example.org\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n--b--\r\n`;
  const { code, reply } = await submit(listener.port, token, { raw });
  expect(code).toBe(250);
  expect(await world.email(idIn(reply))).toMatchObject({
    to: [],
    cc: [],
    bcc: ["ben@example.net"],
    text: "Hi",
  });
  const [file] = await world.hot<{ content: Buffer }[]>`select content from attachments`;
  expect(file?.content.equals(content)).toBe(true);
  await deliverDue(world.withTransport());
  const { bytes } = await getSource(world.ctx, idIn(reply));
  expect(Buffer.from(bytes).subarray(-raw.length).equals(Buffer.from(raw))).toBe(true);
});

test("the reply to a sender that the key does not have says what would work, within the 512 bytes of a reply", async () => {
  const { token: bound } = await world.key({ domains: ["example.org"] });
  const label = "x".repeat(60);
  for (const domain of ["mine.example", `${label}.${label}.${label}.${label}.example`]) {
    const raw = SIMPLE.replace("example.org", domain);
    const { reply } = await submit(listener.port, bound, { raw });
    expect(reply).toMatch(
      /^550 5\.7\.1 This key is not linked to \S+\. It can send from example\.org\. .*verify.*link/,
    );
    expect(reply).toContain(domain);
    expect(Buffer.byteLength(reply)).toBeLessThanOrEqual(510);
  }
});

test("messages and rejected messages are in the log of recent requests", async () => {
  await world.deps.requestLog.flush();
  await world.hot`delete from api_requests`;
  await submit(listener.port, token, { raw: SIMPLE });
  await submit(listener.port, token, { raw: SIMPLE.replace("example.org", "foreign.example") });
  await world.deps.requestLog.flush();
  const calls =
    await world.hot`select method, status, rejection_reason as "rejectionReason" from api_requests order by status`;
  expect([...calls]).toEqual([
    { method: "SMTP", status: 200, rejectionReason: null },
    { method: "SMTP", status: 403, rejectionReason: "domain_not_linked" },
  ]);
  const reader = await world.key();
  const { body } = await world.api("GET", "/api/logs?method=SMTP&status=403", { token: reader.token });
  expect(body.data).toMatchObject([
    { endpoint: "/emails", response_status: 403, rejection: { reason: "domain_not_linked" } },
  ]);
});

test("the reply while the database does not accept the message is 451, and says that the message may have been accepted", async () => {
  const accept = Object.assign(
    () => Promise.reject(Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" })),
    { isWriteRejected: () => false },
  );
  await withListener({ accept }, async (port) => {
    const { reply } = await submit(port, token, { raw: SIMPLE });
    expect(reply).toMatch(/^451 4\.3\.0 .*may have been accepted/);
  });
  expect(await countEmails()).toBe(0);
});
