import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outgoingMessage } from "#server/services/emails/outgoing";
import { withBody } from "#server/worker/messages";
import type { Reply } from "../support/rest";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

const MISSING = "018f0000-0000-7000-8000-000000000000";

/** All that is stored, by table, but for the record of calls and when a key was used last. */
async function contents(): Promise<Record<string, unknown>> {
  const { db } = desk.world.deps;
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(await desk.world.rowCounts())) {
    const [row] = await db.execute(
      sql`select count(*)::int as n, md5(coalesce(string_agg((to_jsonb(t) - 'last_used_at')::text, ',' order by to_jsonb(t)::text), '')) as md5 from ${sql.identifier(name)} t`,
    );
    found[name] = row;
  }
  return found;
}

/** Calls, and asserts that nothing stored is another than before. */
async function ask(
  path: string,
  body: unknown,
  options: { token?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const before = await contents();
  const reply = await desk.world.api("POST", path, { token: desk.token, body, ...options });
  expect(await contents()).toEqual(before);
  return reply;
}

async function foreseen(change: object = {}, options = {}): Promise<Record<string, unknown>> {
  const { status, body, text } = await ask("/api/emails?dry_run=true", { ...desk.mail, ...change }, options);
  expect(status, text).toBe(200);
  return body;
}

type Message = Record<string, unknown> & { headers: { name: string; value: string }[]; size: number };
const messageIn = (body: Record<string, unknown>) => body.message as Message;

describe("a dry run of a mail", () => {
  test("tells what would happen, and by which rules", async () => {
    expect(await foreseen()).toMatchObject({
      object: "dry_run",
      outcome: "queued",
      domain: { name: "example.org", rule: "verified_by_operator", rule_text: expect.any(String) },
      key: { id: desk.keyId, rule: "all_domains", rule_text: expect.any(String) },
      recipients: [
        {
          address: "ben@example.net",
          kind: "to",
          outcome: "attempted",
          rule: "captured",
          rule_text: expect.stringMatching(/captured/),
          suppressed_by: null,
        },
      ],
    });
  });

  test("names the rule of a key that is linked to some domains, and of a domain that DNS verified", async () => {
    await desk.world.domain("dns.example.org");
    await desk.world.deps.hot`update domains set declared_verified_at = null where name = 'dns.example.org'`;
    const { token } = await desk.world.key({ domains: ["dns.example.org"] });
    expect(await foreseen({ from: "ann@dns.example.org" }, { token })).toMatchObject({
      domain: { name: "dns.example.org", rule: "verified_by_dns" },
      key: { rule: "linked_domain" },
    });
  });

  test("shows the message as it would leave, with its size in bytes and its headers", async () => {
    const body = await foreseen({
      to: ["Bän <ben@example.net>", "cem@example.net"],
      cc: "dan@example.net",
      bcc: "eve@example.net",
      reply_to: "help@example.org",
      subject: "Grüße",
      html: "<p>Hello <b>Ben</b></p>",
      headers: { "X-Entity-Ref-ID": "123" },
      tags: [{ name: "kind", value: "test" }],
      attachments: [{ filename: "a.txt", content: "aGVsbG8=" }],
    });
    const message = messageIn(body);
    expect(message).toMatchObject({
      from: "Ann <ann@example.org>",
      to: ["Bän <ben@example.net>", "cem@example.net"],
      cc: ["dan@example.net"],
      bcc: ["eve@example.net"],
      reply_to: ["help@example.org"],
      subject: "Grüße",
      html: "<p>Hello <b>Ben</b></p>",
      text: "Hello Ben",
      scheduled_at: null,
      tags: [{ name: "kind", value: "test" }],
      attachments: [{ filename: "a.txt", content_type: "text/plain", content_id: null, size: 5 }],
    });
    const names = message.headers.map(({ name }) => name);
    expect(names).toEqual([
      "Date",
      "From",
      "Reply-To",
      "To",
      "Cc",
      "Subject",
      "Message-ID",
      "X-Entity-Ref-ID",
      "Feedback-ID",
      "MIME-Version",
      "Content-Type",
    ]);
    const fieldOf = (wanted: string) => message.headers.find(({ name }) => name === wanted)?.value;
    expect(fieldOf("From")).toBe("Ann <ann@example.org>");
    expect(fieldOf("Subject")).toMatch(/^=\?utf-8\?/i);
    expect(fieldOf("Content-Type")).toMatch(/^multipart\/mixed; boundary=/);
    expect(JSON.stringify(message.headers)).not.toContain("eve@example.net");
  });

  test("tells the size to the byte: that of the mail when it is really sent", async () => {
    const change = {
      to: ["ben@example.net", "cem@example.net"],
      html: `<p>${"Grüße, Ben. ".repeat(500)}</p>`,
      attachments: [{ filename: "a.bin", content: Buffer.alloc(10_000, 7).toString("base64") }],
    };
    const { size } = messageIn(await foreseen(change));
    const id = await desk.accepted(change);
    const [row] = await desk.world.deps.hot`
      select team_id as "teamId", id, sender, sender_address as "senderAddress",
        sender_domain as "senderDomain", list_unsubscribe as "listUnsubscribe", "to", cc, reply_to as "replyTo",
        subject, headers, message_id as "messageId", created_at as "createdAt" from emails where id = ${id}`;
    const stored = await withBody(desk.world.deps.hot, { ...row, hasBody: false } as never);
    expect(outgoingMessage(stored).bytes.length).toBe(size);
  });

  test("fills in the template as sending does", async () => {
    const { world, token } = desk;
    const { body: made } = await world.api("POST", "/api/templates", {
      token,
      body: { name: "Hello", subject: "Hello {{{NAME}}}", html: "<p>Dear {{{NAME}}}</p>" },
    });
    const { status } = await world.api("POST", `/api/templates/${made.id}/publish`, { token });
    expect(status).toBe(200);
    const template = { id: made.id, variables: { NAME: "Ben" } };
    const message = messageIn(await foreseen({ html: undefined, subject: undefined, template }));
    expect(message).toMatchObject({
      subject: "Hello Ben",
      html: "<p>Dear Ben</p>",
      text: "Dear Ben",
      template_id: made.id,
      template_version_id: expect.any(String),
    });
  });

  test("tells which recipients are suppressed and why, and what of the others", async () => {
    const { world, token } = desk;
    await world.api("POST", "/api/suppressions", { token, body: { email: "gone@example.net" } });
    const body = await foreseen({
      to: ["Gone@example.net", "ben@example.net"],
      cc: ["suppressed@posthorn.test", "bounced@posthorn.test"],
    });
    expect(body.outcome).toBe("queued");
    const short = (body.recipients as Record<string, unknown>[]).map((each) => [
      each.address,
      each.outcome,
      each.rule,
      each.suppressed_by,
    ]);
    expect(short).toEqual([
      ["Gone@example.net", "suppressed", "suppression_list", "manual"],
      ["ben@example.net", "attempted", "captured", null],
      ["suppressed@posthorn.test", "suppressed", "scripted", null],
      ["bounced@posthorn.test", "attempted", "scripted", null],
    ]);
    expect(await foreseen({ to: "gone@example.net" })).toMatchObject({ outcome: "suppressed" });
  });

  test("tells that a mail would be scheduled, and for when", async () => {
    const at = new Date(desk.world.clock.now().getTime() + 3_600_000).toISOString();
    expect(await foreseen({ scheduled_at: at })).toMatchObject({
      outcome: "scheduled",
      message: { scheduled_at: at },
    });
  });

  test("tells that a mail would wait where there is no way out", async () => {
    const nowhere = await openDesk({ transportKind: "none" });
    const { body } = await nowhere.world.api("POST", "/api/emails?dry_run=true", {
      token: nowhere.token,
      body: nowhere.mail,
    });
    await nowhere.close();
    expect(body.recipients).toMatchObject([{ outcome: "waiting", rule: "no_transport" }]);
  });

  test.each<[what: string, change: object, status: number]>([
    ["an unknown field", { unheard_of: 1 }, 422],
    ["no recipient", { to: [] }, 422],
    ["an unreadable recipient", { to: "ben@" }, 422],
    ["a domain that the key does not have", { from: "ann@example.com" }, 403],
    ["a template that is not there", { html: undefined, template: { id: MISSING } }, 404],
    ["a time in the past", { scheduled_at: "2020-01-01T00:00:00Z" }, 422],
    ["a header that is ours", { headers: { Date: "x" } }, 422],
    ["a file that cannot be fetched", { attachments: [{ path: "http://127.0.0.1:9/x" }] }, 422],
    ["a file of this machine", { attachments: [{ path: "/etc/passwd" }] }, 422],
  ])("refuses %s in the very words in which sending does", async (_, change, status) => {
    const headers = { "x-request-id": "same-for-both" };
    const body = { ...desk.mail, ...change };
    const dry = await ask("/api/emails?dry_run=true", body, { headers });
    const real = await ask("/api/emails", body, { headers });
    expect([dry.status, dry.text]).toEqual([status, real.text]);
    expect(real.status).toBe(status);
  });

  test("takes true and false and nothing else, and with false it sends", async () => {
    const { world, token, mail } = desk;
    for (const word of ["1", "yes", "TRUE"]) {
      const { status, body } = await ask(`/api/emails?dry_run=${word}`, mail);
      expect([status, body.message]).toEqual([422, "Invalid `dry_run`: Must be true or false."]);
    }
    const real = await world.api("POST", "/api/emails?dry_run=false", { token, body: mail });
    expect(real.body).toEqual({ id: expect.any(String) });
  });

  test("needs the scope that sending needs", async () => {
    const { token } = await desk.world.key({ scopes: ["emails:read"] });
    expect((await ask("/api/emails?dry_run=true", desk.mail, { token })).status).toBe(403);
  });
});

describe("for the limits a dry run is a request of its path", () => {
  test("and tells what is left of them", async () => {
    const { clock } = desk.world;
    // All of it in one minute, at whose end the counts begin anew.
    clock.advance(60_000 - (clock.now().getTime() % 60_000));
    const { token } = await desk.world.key({ limits: { "POST /api/emails": 3, other: 2 } });
    const call = (path: string, body: unknown) => ask(path, body, { token });
    const first = await call("/api/emails?dry_run=true", desk.mail);
    expect(first.body.limit).toEqual({
      tier: "POST /api/emails",
      limit: 3,
      remaining: 2,
      resets_at: expect.stringMatching(/T\d\d:\d\d:00\.000Z$/),
    });
    expect(first.headers["x-ratelimit-remaining"]).toBe("2");
    const batch = await call("/api/emails/batch?dry_run=true", [desk.mail]);
    expect(batch.body.limit).toMatchObject({ tier: "other", limit: 2, remaining: 1 });
    const sent = await desk.world.api("POST", "/api/emails", { token, body: desk.mail });
    expect(sent.headers["x-ratelimit-remaining"]).toBe("1");
    await call("/api/emails?dry_run=true", desk.mail);
    expect((await call("/api/emails?dry_run=true", desk.mail)).status).toBe(429);
  });
});

describe("a dry run and an idempotency key", () => {
  const dry = "/api/emails?dry_run=true";
  const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

  test("leave each other alone: the key is free for the real call afterwards", async () => {
    const { world, token, mail } = desk;
    expect(await foreseen({}, keyed("dry-1"))).toMatchObject({ outcome: "queued" });
    expect(await foreseen({}, keyed("dry-1"))).toMatchObject({ outcome: "queued" });
    const real = await world.api("POST", "/api/emails", { token, body: mail, ...keyed("dry-1") });
    expect(real.status).toBe(200);
    expect(real.headers).not.toHaveProperty("idempotent-replayed");
  });

  test("with a used key it tells the answer that would be repeated", async () => {
    const { world, token, mail } = desk;
    const real = await world.api("POST", "/api/emails", { token, body: mail, ...keyed("dry-2") });
    expect(await foreseen({}, keyed("dry-2"))).toMatchObject({
      object: "dry_run",
      outcome: "replayed",
      rule: "idempotency_key",
      rule_text: expect.stringMatching(/nothing is sent again/),
      answer: { id: real.body.id },
      limit: { tier: "POST /api/emails" },
    });
  });

  test("with a key of another payload, or one that is none, it is refused like the real call", async () => {
    const { world, token, mail } = desk;
    await world.api("POST", "/api/emails", { token, body: mail, ...keyed("dry-3") });
    const other = await ask(dry, { ...mail, subject: "Other" }, keyed("dry-3"));
    expect(other.body).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
    expect((await ask(dry, mail, keyed("x".repeat(257)))).status).toBe(400);
  });
});

describe("a dry run of a batch", () => {
  const path = "/api/emails/batch?dry_run=true";

  test("tells of each mail what a dry run of it alone tells", async () => {
    const { mail } = desk;
    const { status, body } = await ask(path, [mail, { ...mail, subject: "Second" }]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "dry_run", errors: [] });
    const data = body.data as Record<string, unknown>[];
    expect(data.map(({ index }) => index)).toEqual([0, 1]);
    expect(data[1]).toMatchObject({
      outcome: "queued",
      domain: { name: "example.org" },
      recipients: [{ rule: "captured" }],
      message: { subject: "Second", size: expect.any(Number) },
    });
  });

  test("in permissive mode names the mails that would be refused", async () => {
    const { mail } = desk;
    const items = [{ ...mail, to: "ben@" }, mail, { ...mail, from: "ann@example.com" }];
    const headers = { "x-batch-validation": "permissive" };
    const { body } = await ask(path, items, { headers });
    const real = await desk.world.api("POST", "/api/emails/batch", {
      token: desk.token,
      body: items,
      headers,
    });
    expect(body.errors).toEqual(real.body.errors);
    expect(body.data).toMatchObject([{ index: 1, outcome: "queued" }]);
  });

  test("in strict mode is refused in the very words of the real call", async () => {
    const { mail } = desk;
    const headers = { "x-request-id": "same-for-both" };
    for (const items of [
      [mail, { ...mail, to: "ben@" }],
      [],
      [{ ...mail, attachments: [{ content: "aGk=" }] }],
    ]) {
      const dry = await ask(path, items, { headers });
      const real = await ask("/api/emails/batch", items, { headers });
      expect([dry.status, dry.text]).toEqual([422, real.text]);
    }
  });

  test("with a used key tells the answer that would be repeated", async () => {
    const { world, token, mail } = desk;
    const headers = { "idempotency-key": "dry-batch" };
    const real = await world.api("POST", "/api/emails/batch", { token, body: [mail], headers });
    const { body } = await ask(path, [mail], { headers });
    expect(body).toMatchObject({ outcome: "replayed", answer: real.body });
  });
});
