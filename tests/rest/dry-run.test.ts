import { describe, expect, test } from "vitest";
import { withBody } from "#server/delivery/attempt/stored-messages";
import { outgoingMessage } from "#server/services/emails/outgoing";
import { textOf } from "../mail/drafts";
import { callApi, type Reply, startRest } from "../support/rest";
import { openTestApp } from "./test-app";

const app = await openTestApp();

/** The stored content by table, without the log of calls and the last use of keys. */
async function contents(): Promise<object[]> {
  statement ??= Object.keys(await app.world.rowCounts())
    .map(
      (name) =>
        `select '${name}' as name, md5(string_agg((to_jsonb(t) - 'last_used_at')::text, ',' order by to_jsonb(t)::text)) from ${name} t`,
    )
    .join(" union all ")
    .concat(" order by name");
  return app.world.hot.unsafe(statement, [], { prepare: true });
}
let statement: string | undefined;

/** Calls, and asserts that the stored content does not change. */
async function post(
  path: string,
  body: unknown,
  options: { token?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const before = await contents();
  const reply = await app.world.api("POST", path, { token: app.token, body, ...options });
  expect(await contents()).toEqual(before);
  return reply;
}

async function predict(change: object = {}, options = {}): Promise<Record<string, unknown>> {
  const email = { ...app.validEmail, ...change };
  const { status, body, text } = await post("/api/emails?dry_run=true", email, options);
  expect(status, text).toBe(200);
  return body;
}

type Message = Record<string, unknown> & { headers: { name: string; value: string }[]; size: number };
const messageIn = (body: Record<string, unknown>) => body.message as Message;

describe("a dry run of an email", () => {
  test("returns the outcome and its rules", async () => {
    expect(await predict()).toMatchObject({
      object: "dry_run",
      outcome: "queued",
      domain: { name: "example.org", rule: "verified_by_operator", rule_text: expect.any(String) },
      key: { id: app.keyId, rule: "all_domains", rule_text: expect.any(String) },
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

  test("names the rules of a key linked to some domains and of a domain verified by DNS", async () => {
    await app.world.domain("dns.example.org");
    await app.world.hot`update domains set declared_verified_at = null where name = 'dns.example.org'`;
    const { token } = await app.world.key({ domains: ["dns.example.org"] });
    expect(await predict({ from: "ann@dns.example.org" }, { token })).toMatchObject({
      domain: { name: "dns.example.org", rule: "verified_by_dns" },
      key: { rule: "linked_domain" },
    });
  });

  test("returns the message as sent, with its size in bytes and its headers", async () => {
    const fields = {
      to: ["Bän <ben@example.net>", "cem@example.net"],
      cc: ["dan@example.net"],
      bcc: ["eve@example.net"],
      reply_to: ["help@example.org"],
      subject: "Grüße",
      html: "<p>Hello <b>Ben</b></p>",
      tags: [{ name: "kind", value: "test" }],
    };
    const headers = { "X-Entity-Ref-ID": "123" };
    const attachments = [{ filename: "a.txt", content: "aGVsbG8=" }];
    const message = messageIn(await predict({ ...fields, headers, attachments }));
    expect(message).toMatchObject({
      ...fields,
      from: "Ann <ann@example.org>",
      text: "Hello Ben",
      scheduled_at: null,
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

  test("returns the exact size in bytes of the email that would be sent", async () => {
    const change = {
      to: ["ben@example.net", "cem@example.net"],
      html: `<p>${"Grüße, Ben. ".repeat(500)}</p>`,
      attachments: [{ filename: "a.bin", content: Buffer.alloc(10_000, 7).toString("base64") }],
    };
    const { size } = messageIn(await predict(change));
    const [row] = await app.world.hot`
      select team_id as "teamId", id, sender, sender_address as "senderAddress", sender_domain as "senderDomain",
        list_unsubscribe as "listUnsubscribe", "to", cc, reply_to as "replyTo", subject, headers,
        message_id as "messageId", created_at as "createdAt" from emails where id = ${await app.accepted(change)}`;
    const stored = await withBody(app.world.hot, { ...row, hasBody: false } as never);
    expect(outgoingMessage({ ...stored, text: await textOf(stored) }).bytes.length).toBe(size);
  });

  test("renders the template like a real call", async () => {
    const { world, token } = app;
    const { body: made } = await world.api("POST", "/api/templates", {
      token,
      body: { name: "Hello", subject: "Hello {{{NAME}}}", html: "<p>Dear {{{NAME}}}</p>" },
    });
    const { status } = await world.api("POST", `/api/templates/${made.id}/publish`, { token });
    expect(status).toBe(200);
    const template = { id: made.id, variables: { NAME: "Ben" } };
    const message = messageIn(await predict({ html: undefined, subject: undefined, template }));
    expect(message).toMatchObject({
      subject: "Hello Ben",
      html: "<p>Dear Ben</p>",
      text: "Dear Ben",
      template_id: made.id,
      template_version_id: expect.any(String),
    });
  });

  test("returns which recipients are suppressed and why, and the outcome of the others", async () => {
    const { world, token } = app;
    await world.api("POST", "/api/suppressions", { token, body: { email: "gone@example.net" } });
    const body = await predict({
      to: ["Gone@example.net", "ben@example.net"],
      cc: ["suppressed@backstamp.test", "bounced@backstamp.test"],
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
      ["suppressed@backstamp.test", "suppressed", "scripted", null],
      ["bounced@backstamp.test", "attempted", "scripted", null],
    ]);
    expect(await predict({ to: "gone@example.net" })).toMatchObject({ outcome: "suppressed" });
  });

  test("returns that an email would be scheduled, and the time", async () => {
    const at = new Date(app.world.clock.now().getTime() + 3_600_000).toISOString();
    expect(await predict({ scheduled_at: at })).toMatchObject({
      outcome: "scheduled",
      message: { scheduled_at: at },
    });
  });

  test.each([
    ["none", "waiting", "no_transport"],
    ["relay", "attempted", "relay"],
    ["direct", "attempted", "direct"],
  ] as const)(
    "if SMTP_URL is %s, returns that an email is %s with the rule %s",
    async (transportKind, outcome, rule) => {
      const server = await startRest({ ...app.world.deps, transportKind });
      const path = "/api/emails?dry_run=true";
      const { body } = await callApi(server.baseUrl, "POST", path, {
        token: app.token,
        body: app.validEmail,
      });
      await server.close();
      expect(body.recipients).toMatchObject([{ outcome, rule }]);
    },
  );

  test.each<[what: string, change: object, status: number]>([
    ["an unreadable recipient", { to: "ben@" }, 422],
    ["a time in the past", { scheduled_at: "2020-01-01T00:00:00Z" }, 422],
    ["a file that cannot be fetched", { attachments: [{ path: "http://127.0.0.1:9/x" }] }, 422],
  ])("rejects %s with the same error as the real call", async (_, change, status) => {
    const headers = { "x-request-id": "same-for-both" };
    const body = { ...app.validEmail, ...change };
    const dry = await post("/api/emails?dry_run=true", body, { headers });
    const real = await post("/api/emails", body, { headers });
    expect([dry.status, dry.text]).toEqual([status, real.text]);
    expect(real.status).toBe(status);
  });

  test("says in words why the real call gets a 403, whose body is fixed", async () => {
    const { validEmail } = app;
    const own = { ...validEmail, from: "ann@mine.example" };
    for (const [path, body] of [
      ["/api/emails", own],
      ["/api/emails/batch", [validEmail, own]],
    ] as const) {
      const real = await post(path, body);
      expect(real).toMatchObject({ status: 403, body: { error: "Insufficient API key permissions" } });
      const dry = await post(`${path}?dry_run=true`, body);
      expect(dry).toMatchObject({ status: 200, body: { object: "dry_run", outcome: "rejected" } });
      expect(dry.body).toMatchObject({ status: 403, rule: "domain_not_linked" });
      expect(dry.body.rule_text).toMatch(/mine\.example.*verify/);
      expect(real.headers["x-backstamp-reason"]).toContain(dry.body.rule_text);
    }
  });

  test("accepts only true and false, and sends with false", async () => {
    const { world, token, validEmail } = app;
    for (const word of ["1", "TRUE"]) {
      const { status, body } = await post(`/api/emails?dry_run=${word}`, validEmail);
      expect([status, body.message]).toEqual([422, "Invalid `dry_run`: Must be true or false."]);
    }
    const real = await world.api("POST", "/api/emails?dry_run=false", { token, body: validEmail });
    expect(real.body).toEqual({ id: expect.any(String) });
  });
});

describe("for the rate limits a dry run is a call of its path", () => {
  test("and it returns the remaining calls", async () => {
    const { token } = await app.world.key({ limits: { "POST /api/emails": 3, other: 2 } });
    const call = (path: string, body: unknown) => post(path, body, { token });
    const first = await call("/api/emails?dry_run=true", app.validEmail);
    expect(first.body.limit).toEqual({
      tier: "POST /api/emails",
      limit: 3,
      remaining: 2,
      resets_at: expect.stringMatching(/T\d\d:\d\d:00\.000Z$/),
    });
    expect(first.headers["x-ratelimit-remaining"]).toBe("2");
    const batch = await call("/api/emails/batch?dry_run=true", [app.validEmail]);
    expect(batch.body.limit).toMatchObject({ tier: "other", limit: 2, remaining: 1 });
    const sent = await app.world.api("POST", "/api/emails", { token, body: app.validEmail });
    expect(sent.headers["x-ratelimit-remaining"]).toBe("1");
    await call("/api/emails?dry_run=true", app.validEmail);
    expect((await call("/api/emails?dry_run=true", app.validEmail)).status).toBe(429);
  });
});

describe("a dry run and an idempotency key", () => {
  const dry = "/api/emails?dry_run=true";
  const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

  test("do not affect each other: the key stays unused for the real call", async () => {
    const { world, token, validEmail } = app;
    expect(await predict({}, keyed("dry-1"))).toMatchObject({ outcome: "queued" });
    expect(await predict({}, keyed("dry-1"))).toMatchObject({ outcome: "queued" });
    const real = await world.api("POST", "/api/emails", { token, body: validEmail, ...keyed("dry-1") });
    expect(real.status).toBe(200);
    expect(real.headers).not.toHaveProperty("idempotent-replayed");
  });

  test("with a used key it returns the stored response", async () => {
    const { world, token, validEmail } = app;
    const real = await world.api("POST", "/api/emails", { token, body: validEmail, ...keyed("dry-2") });
    expect(await predict({}, keyed("dry-2"))).toMatchObject({
      object: "dry_run",
      outcome: "replayed",
      rule: "idempotency_key",
      rule_text: expect.stringMatching(/Nothing is sent again/),
      answer: { id: real.body.id },
      limit: { tier: "POST /api/emails" },
    });
  });

  test("with a key of another payload it is rejected like the real call", async () => {
    const { world, token, validEmail } = app;
    await world.api("POST", "/api/emails", { token, body: validEmail, ...keyed("dry-3") });
    const other = await post(dry, { ...validEmail, subject: "Other" }, keyed("dry-3"));
    expect(other.body).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
  });
});

describe("a dry run of a batch", () => {
  const path = "/api/emails/batch?dry_run=true";

  test("returns for each email the outcome of its own dry run, without composing its message", async () => {
    const { validEmail } = app;
    const { status, body } = await post(path, [validEmail, { ...validEmail, subject: "Second" }]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "dry_run", errors: [] });
    const data = body.data as Record<string, unknown>[];
    expect(data.map(({ index }) => index)).toEqual([0, 1]);
    expect(data[1]).toMatchObject({
      outcome: "queued",
      domain: { name: "example.org" },
      recipients: [{ rule: "captured" }],
      message: { subject: "Second", headers: null, size: null },
    });
  });

  test("in permissive mode lists the emails that would be rejected", async () => {
    const { world, token, validEmail } = app;
    const items = [{ ...validEmail, to: "ben@" }, validEmail, { ...validEmail, from: "ann@example.com" }];
    const headers = { "x-batch-validation": "permissive" };
    const { body } = await post(path, items, { headers });
    const real = await world.api("POST", "/api/emails/batch", { token, body: items, headers });
    expect(body.errors).toEqual(real.body.errors);
    expect(body.data).toMatchObject([{ index: 1, outcome: "queued" }]);
  });

  test("in strict mode is rejected with the same error as the real call", async () => {
    const { validEmail } = app;
    const headers = { "x-request-id": "same-for-both" };
    for (const items of [
      [validEmail, { ...validEmail, to: "ben@" }],
      [],
      [{ ...validEmail, attachments: [{ filename: "a" }] }],
    ]) {
      const dry = await post(path, items, { headers });
      const real = await post("/api/emails/batch", items, { headers });
      expect([dry.status, dry.text]).toEqual([422, real.text]);
    }
  });
});
