import { afterAll, beforeEach, expect, test } from "vitest";
import { getSource } from "#server/services/emails/read/source";
import { removeRelay } from "#server/services/relays/write";
import { startSubmission } from "#server/submission/listener";
import { rejected } from "../support/rejected";
import { relayTo } from "../support/relays";
import { openWorld } from "../support/world";
import { idIn, openLoggedIn, submit } from "./client";

const world = await openWorld();
const token = (await world.key()).token;
const listener = await startSubmission(world.deps, {
  host: "127.0.0.1",
  port: 0,
  name: "mail.example.com",
  certificate: null,
  isImplicitTls: false,
});
afterAll(() => listener.close());
beforeEach(async () => {
  for (const table of ["emails", "idempotency_keys", "templates"])
    await world.hot.unsafe(`delete from ${table}`);
});

/** Submits a message with these header fields. */
const send = (
  fields: string[],
  { body = "Hello", dated = "1", to = "ben@example.net" as string | string[] } = {},
) =>
  submit(listener.port, token, {
    to,
    raw: `From: ann@example.org\r\nTo: ben@example.net\r\nSubject: Hi\r\nDate: ${dated}\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n${body}\r\n`,
  });
const sourceOf = async (id: string) => Buffer.from((await getSource(world.ctx, id)).bytes).toString();
const countEmails = async () => (await world.hot`select from emails`).length;

test("tags of Backstamp, SES and Postmark are stored and not sent", async () => {
  const { reply } = await send([
    "X-Backstamp-Tag: campaign:welcome",
    "X-Backstamp-Tag: plan=pro, region=eu",
    "X-SES-MESSAGE-TAGS: source=app",
    "X-PM-Tag: Password reset",
    "X-PM-Metadata-order: 42",
    "X-Kept: yes",
  ]);
  const { tags } = await world.email(idIn(reply));
  expect(tags).toEqual([
    { name: "campaign", value: "welcome" },
    { name: "plan", value: "pro" },
    { name: "region", value: "eu" },
    { name: "source", value: "app" },
    { name: "tag", value: "Password_reset" },
    { name: "order", value: "42" },
  ]);
  const source = await sourceOf(idIn(reply));
  expect(source).toContain("X-Kept: yes\r\n");
  expect(source).not.toMatch(/X-Backstamp|X-SES|X-PM/i);
});

test.each(["X-Backstamp-Idempotency-Key", "Resend-Idempotency-Key"])(
  "%s makes a repetition harmless, even with another Date, and rejects other content",
  async (name) => {
    const first = await send([`${name}: order/1`]);
    const second = await send([`${name}: order/1`, "Message-ID: <other@example.org>"], { dated: "2" });
    expect([first.code, second.code]).toEqual([250, 250]);
    expect(idIn(second.reply)).toBe(idIn(first.reply));
    expect((await send([`${name}: order/1`], { body: "Other" })).reply).toMatch(/^550 .*different payload/);
    expect(await countEmails()).toBe(1);
    expect(await sourceOf(idIn(first.reply))).not.toMatch(/idempotency/i);
  },
);

test("a message that is split among several transactions loses no recipient", async () => {
  const fields = ["X-Backstamp-Idempotency-Key: k"];
  const parts = [["ben@example.net", "eve@example.net"], ["carl@example.net"]];
  const ids = [];
  for (const to of parts) ids.push(idIn((await send(fields, { to })).reply));
  const repeated = await send(fields, { to: ["eve@example.net", "ben@example.net"] });
  expect(idIn(repeated.reply)).toBe(ids[0]);
  const sent = await Promise.all(ids.map((id) => world.email(id)));
  expect(sent.map(({ deliveries }) => deliveries.map(({ address }) => address))).toEqual(parts);
  expect((await send(fields, { to: "carl@example.net", body: "Other" })).code).toBe(550);
  expect(await countEmails()).toBe(2);
});

test("concurrent messages with one idempotency key become one email", async () => {
  const sent = await Promise.all(Array.from({ length: 5 }, () => send(["X-Backstamp-Idempotency-Key: k"])));
  expect(new Set(sent.map(({ reply }) => idIn(reply))).size).toBe(1);
  expect(await countEmails()).toBe(1);
});

test("a template replaces the content, with variables from a header", async () => {
  await world.api("POST", "/api/templates", {
    token,
    body: { name: "Welcome", alias: "welcome", subject: "Hello {{NAME}}", html: "<p>Dear {{NAME}}</p>" },
  });
  const { reply } = await submit(listener.port, token, {
    raw: 'From: ann@example.org\r\nTo: ben@example.net\r\nX-Backstamp-Template: welcome\r\nX-Backstamp-Template-Variables: {"NAME":\r\n "Ben"}\r\nX-Ref: 1\r\n\r\nignored\r\n',
  });
  const email = await world.email(idIn(reply));
  expect(email).toMatchObject({ subject: "Hello Ben", html: "<p>Dear Ben</p>", to: ["ben@example.net"] });
  expect(email.headers).toEqual([{ name: "X-Ref", value: "1" }]);
  expect(await sourceOf(email.id)).not.toContain("ignored");
});

test("a template is sent to recipients that are in no To header", async () => {
  await world.api("POST", "/api/templates", {
    token,
    body: { name: "Welcome", alias: "welcome", subject: "Hello", html: "<p>Dear</p>" },
  });
  const { reply } = await send(["X-Backstamp-Template: welcome"], { to: "eve@example.net" });
  expect(await world.email(idIn(reply))).toMatchObject({ to: [], cc: [], bcc: ["eve@example.net"] });
  expect(await sourceOf(idIn(reply))).toContain("To: undisclosed-recipients:;\r\n");
});

test("a schedule, a priority and one-click unsubscribing are those of the API", async () => {
  const { reply } = await send([
    "X-Backstamp-Scheduled-At: in 2 hours",
    "X-Backstamp-Priority: low",
    "X-Backstamp-List-Unsubscribe: true",
  ]);
  expect(await world.email(idIn(reply))).toMatchObject({
    status: "scheduled",
    priority: "low",
    listUnsubscribe: true,
  });
});

test.each([
  [["X-Backstamp-Tags: a=b"], /Unknown header x-backstamp-tags.*x-backstamp-tag,/],
  [["X-Backstamp-Tag: a"], /name:value/],
  [["X-Backstamp-Tag: a:b c"], /name:value/],
  [["X-Backstamp-Scheduled-At: yesterday"], /past|time/],
  [["X-Backstamp-Priority: urgent"], /high, normal, low/],
  [["X-Backstamp-List-Unsubscribe: yes"], /true or false/],
  [["X-Backstamp-Template: none"], /no template none/],
  [["X-Backstamp-Template: a", "X-Backstamp-Template-Variables: {"], /JSON object/],
  [["X-Backstamp-Template-Variables: {}"], /needs the header x-backstamp-template/],
  [["X-Backstamp-Idempotency-Key: a", "Resend-Idempotency-Key: b"], /more than once/],
  [["X-Backstamp-Idempotency-Key: schlüssel"], /printable ASCII/],
])("headers %j are rejected with what is valid", async (fields, reason) => {
  const { code, reply } = await send(fields);
  expect(code).toBe(550);
  expect(reply).toMatch(reason);
  expect(await countEmails()).toBe(0);
});

test("fields of mail servers, foreign signatures and hidden recipients are not sent", async () => {
  const { reply } = await send([
    "DKIM-Signature: v=1; d=bank.example; b=forged",
    "Authentication-Results: mx.example; dkim=pass",
    "ARC-Seal: i=1; d=bank.example",
    "Return-Path: <eve@bank.example>",
    "Delivered-To: eve@bank.example",
    "Errors-To: eve@bank.example",
    "Bcc: eve@bank.example",
    "Sender: Team <team@example.org>",
    "Auto-Submitted: auto-generated",
    "Content-Language: de",
  ]);
  const source = await sourceOf(idIn(reply));
  expect(source).not.toMatch(/bank\.example|mx\.example/);
  for (const kept of ["Sender: Team", "Auto-Submitted: auto-", "Content-Language: de"])
    expect(source).toContain(kept);
});

test.each([
  ["Sender: eve@other.example", /5\.7\.1 .*Sender.*example\.org/],
  ["Sender: ann@example.org, eve@other.example", /Sender/],
  ["Resent-From: eve@example.org", /Resent-From cannot be set/],
  ["Resent-Bcc: eve@example.org", /Resent-Bcc cannot be set/],
  ["X-MSYS-API: {}", /cannot be set/],
  ["X-SES-CONFIGURATION-SET: other", /x-ses-configuration-set.*relay of your own/],
  ["X-PM-Message-Stream: broadcast", /x-pm-message-stream/],
  ["X-MC-Tags: a", /x-mc-tags/],
  ["subject: again", /more than one subject/],
  ["To: eve@example.net", /more than one to header/],
  ["Content-Type: text/plain\r\nContent-Type: text/html", /more than one content-type/],
  ["Message-ID: <1@example.org>\r\nMessage-ID: <2@example.org>", /more than one message-id/],
  ["X-A: a\x1bb", /control character/],
  ["X-A: a\u0085b", /control character/],
])("%j is 550, because receivers or relays could be misled", async (field, reason) => {
  const { code, reply } = await send([field]);
  expect(code).toBe(550);
  expect(reply).toMatch(reason);
  expect(await countEmails()).toBe(0);
});

test("a field that controls a provider is sent by a relay of the team's own, over SMTP and REST", async () => {
  const body = {
    from: "ann@example.org",
    to: "ben@example.net",
    subject: "Hi",
    text: "Hi",
    headers: { "X-PM-Message-Stream": "broadcast" },
  };
  expect(await world.api("POST", "/api/emails", { token, body })).toMatchObject(
    rejected(422, "relay of your own"),
  );
  const relay = await relayTo(world.deps, { port: 2525 }, { teamId: world.ctx.teamId });
  expect((await world.api("POST", "/api/emails", { token, body })).status).toBe(200);
  const { reply } = await send(["X-PM-Message-Stream: broadcast"]);
  expect(await sourceOf(idIn(reply))).toContain("X-PM-Message-Stream: broadcast");
  await removeRelay(world.deps, relay);
});

test("any envelope sender with a domain is accepted, and invalid recipients are not", async () => {
  const client = await openLoggedIn(listener.port, token);
  for (const sender of ["www-data@web_1", "user.@host"]) {
    expect(await client.send(`MAIL FROM:<${sender}>`)).toMatch(/^250/);
    for (const recipient of ["ben@web_1", "user.@example.net", "ben@exa mple.net"])
      expect(await client.send(`RCPT TO:<${recipient}>`)).toMatch(/^5/);
    const latin1 = Buffer.from("RCPT TO:<b\xe9n@example.net>\r\n", "latin1");
    expect(await client.send(latin1)).toMatch(/^553 .*not UTF-8/);
    expect(await client.send("RCPT TO:<ben@example.net>")).toMatch(/^250/);
    await client.send("RSET");
  }
  expect(await client.send("MAIL FROM:<root>")).toMatch(/^501/);
  client.socket.destroy();
});
