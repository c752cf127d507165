import { and, eq, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "#db/schema/deliveries";
import type { EmailStatus } from "#db/schema/emails";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
let keyId: string;
beforeAll(async () => {
  world = await createWorld();
  await world.domain("example.org");
  ({ token, id: keyId } = await world.key());
});
afterAll(() => world.close());

const MAIL = {
  from: "Ann <ann@example.org>",
  to: "ben@example.net",
  subject: "Hello",
  html: "<p>Hello</p>",
};
const send = (body: object, headers: Record<string, string> = {}) =>
  world.api("POST", "/api/emails", { token, body, headers });
const get = (path: string) => world.api("GET", path, { token });

/** Sends and tells the id. */
async function accepted(mail: object = {}): Promise<string> {
  const { status, body, text } = await send({ ...MAIL, ...mail });
  expect(status, text).toBe(200);
  return String(body.id);
}

/** Reads a mail whole. */
async function show(id: string): Promise<Record<string, unknown>> {
  const { status, body } = await get(`/api/emails/${id}`);
  expect(status).toBe(200);
  return body;
}

describe("a mail is accepted", () => {
  test("with the four fields of the interface, and answered with its id alone", async () => {
    const { status, body } = await send(MAIL);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["id"]);
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test("and read back as it was given, every field of it", async () => {
    const id = await accepted({
      to: ["ben@example.net", "Cleo <cleo@example.net>"],
      cc: "dora@example.net",
      bcc: ["eve@example.net"],
      reply_to: "Office <office@example.org>",
      text: "Hello",
      headers: { "X-Entity-Ref-ID": "42" },
      tags: [{ name: "kind", value: "welcome" }],
    });
    expect(await show(id)).toMatchObject({
      object: "email",
      id,
      message_id: `<${id}@example.org>`,
      from: "Ann <ann@example.org>",
      to: ["ben@example.net", "Cleo <cleo@example.net>"],
      cc: ["dora@example.net"],
      bcc: ["eve@example.net"],
      reply_to: ["Office <office@example.org>"],
      subject: "Hello",
      html: "<p>Hello</p>",
      text: "Hello",
      headers: { "X-Entity-Ref-ID": "42" },
      tags: [{ name: "kind", value: "welcome" }],
      last_event: "queued",
      status: "queued",
      scheduled_at: null,
      api_key_id: keyId,
      api_key_name: "Test key",
      template_id: null,
      events: [{ type: "email.queued", recipient: null, data: {} }],
    });
  });

  test("once per address, though it stands in several fields", async () => {
    const id = await accepted({ to: ["ben@example.net", "ben@EXAMPLE.net"], cc: "Ben <ben@example.net>" });
    expect((await show(id)).recipients).toMatchObject([{ address: "ben@example.net", kind: "to" }]);
  });

  test("where the display name contains an @: the address decides", async () => {
    const id = await accepted({ from: "evil@example.com <ann@example.org>" });
    expect((await show(id)).from).toBe("evil@example.com <ann@example.org>");
  });

  test("whatever says nothing in a field counts as its absence, in every dialect of nothing", async () => {
    for (const nothing of [null, "", []])
      await accepted({
        cc: nothing,
        bcc: nothing,
        reply_to: nothing,
        headers: nothing,
        tags: nothing,
        template: nothing,
        attachments: nothing,
        scheduled_at: nothing,
        topic_id: nothing,
      });
    await accepted({ text: null, headers: {} });
  });

  test("and an empty text is kept as one, since it asks for no text part", async () => {
    expect((await show(await accepted({ text: "" }))).text).toBe("");
    expect((await show(await accepted())).text).toBeNull();
  });

  test("with text and no HTML", async () => {
    expect(await show(await accepted({ html: undefined, text: "Hello" }))).toMatchObject({
      html: null,
      text: "Hello",
    });
  });
});

describe("a mail is refused with a sentence that names the field", () => {
  const long = "x".repeat(2_001);
  const table: [what: string, change: object, status: number, name: string, message: RegExp][] = [
    ["no sender", { from: undefined }, 422, "missing_required_field", /`from`/],
    ["an empty sender", { from: "" }, 422, "missing_required_field", /`from`/],
    ["no recipient", { to: [] }, 422, "missing_required_field", /`to`/],
    ["no subject", { subject: null }, 422, "missing_required_field", /`subject`/],
    ["no body", { html: null }, 422, "missing_required_field", /`html`/],
    [
      "a sender that is a list",
      { from: ["ann@example.org"] },
      422,
      "validation_error",
      /`from`.*one mailbox/,
    ],
    ["a sender without domain", { from: "ann" }, 422, "validation_error", /`from`.*"@"/],
    [
      "two recipients in one string",
      { to: "a@example.net, b@example.net" },
      422,
      "validation_error",
      /`to`.*array/,
    ],
    [
      "one bad recipient among good ones",
      { to: ["a@example.net", "b"] },
      422,
      "validation_error",
      /`to\[1\]`/,
    ],
    ["a recipient that is no string", { to: [1] }, 422, "validation_error", /`to`/],
    [
      "too many recipients",
      { to: Array.from({ length: 51 }, (_, n) => `a${n}@example.net`) },
      422,
      "validation_error",
      /`to`.*At most 50/,
    ],
    [
      "an HTML body that is an object",
      { html: { path: "/etc/passwd" } },
      422,
      "validation_error",
      /`html`.*string/,
    ],
    ["a subject that is a number", { subject: 1 }, 422, "validation_error", /`subject`.*string/],
    [
      "a subject of two lines",
      { subject: "a\r\nBcc: x@example.com" },
      422,
      "validation_error",
      /`subject`.*one line/,
    ],
    ["a subject too long", { subject: long }, 422, "validation_error", /`subject`.*2000/],
    ["an unknown field", { form: "x" }, 422, "validation_error", /Unknown field `form`\. Known: from, to/],
    ["several unknown fields", { a: 1, b: 2 }, 422, "validation_error", /Unknown fields `a`, `b`/],
    [
      "an unknown field further down",
      { tags: [{ name: "a", value: "b", x: 1 }] },
      422,
      "validation_error",
      /`tags\[0\].x`/,
    ],
    [
      "a tag with blanks",
      { tags: [{ name: "a b", value: "c" }] },
      422,
      "validation_error",
      /`tags\[0\].name`/,
    ],
    ["a tag without value", { tags: [{ name: "a" }] }, 422, "missing_required_field", /`tags\[0\].value`/],
    ["tags in an object", { tags: { a: "b" } }, 422, "validation_error", /`tags`.*array/],
    [
      "a header that Posthorn writes",
      { headers: { From: "x@example.com" } },
      422,
      "validation_error",
      /`headers`.*From/,
    ],
    [
      "a header given twice",
      { headers: { "X-A": "1", "x-a": "2" } },
      422,
      "validation_error",
      /`headers`.*twice/,
    ],
    [
      "a header that is a number",
      { headers: { "X-A": 1 } },
      422,
      "validation_error",
      /`headers.X-A`.*string/,
    ],
    [
      "attachments, which are not offered",
      { attachments: [{ content: "eA==" }] },
      422,
      "validation_error",
      /`attachments`/,
    ],
    ["a time, which is not offered", { scheduled_at: "in 1 min" }, 422, "validation_error", /`scheduled_at`/],
    ["HTML beside a template", { template: { id: "x" } }, 422, "validation_error", /`html`.*`template`/],
    [
      "a template that is a string",
      { html: undefined, template: "x" },
      422,
      "validation_error",
      /`template`/,
    ],
    [
      "a template without id",
      { html: undefined, template: {} },
      422,
      "missing_required_field",
      /`template.id`/,
    ],
    ["an unknown template", { html: undefined, template: { id: "none" } }, 404, "not_found", /Template/],
  ];
  test.each(table)("%s", async (_, change, status, name, message) => {
    const before = await world.rowCounts();
    const { status: got, body } = await send({ ...MAIL, ...change });
    expect({ got, name: body.name }).toEqual({ got: status, name });
    expect(body.message).toMatch(message);
    expect(body.error).toBe(body.message);
    expect(body.statusCode).toBe(status);
    expect(await world.rowCounts()).toEqual(before);
  });
});

describe("who may send in whose name", () => {
  test("a domain that is not linked to the key is the interface's 403, whether it exists or not", async () => {
    await world.domain("unlinked.org");
    const bound = await world.key({ domains: ["example.org"] });
    for (const from of ["ann@unlinked.org", "ann@nowhere.org", "ann@sub.example.org", "ann@badexample.org"]) {
      const { status, body } = await world.api("POST", "/api/emails", {
        token: bound.token,
        body: { ...MAIL, from },
      });
      expect({ status, body }).toEqual({
        status: 403,
        body: { error: "Insufficient API key permissions" },
      });
    }
  });

  test("the same domain in other letters or as Unicode is the same domain", async () => {
    await world.domain("xn--bcher-kva.example");
    await accepted({ from: "ann@EXAMPLE.org" });
    expect((await show(await accepted({ from: "ann@bücher.example" }))).from).toBe(
      "ann@xn--bcher-kva.example",
    );
  });

  test("a linked domain that is not verified is 422 and says how to verify it", async () => {
    await world.domain("new.example.org", { verified: false });
    const { status, body } = await send({ ...MAIL, from: "ann@new.example.org" });
    expect(status).toBe(422);
    expect(body.message).toMatch(/new\.example\.org is not verified yet/);
  });

  test("a key linked to all domains may use one that was added after it", async () => {
    await world.domain("later.example.org");
    await accepted({ from: "ann@later.example.org" });
  });
});

describe("the list", () => {
  let reader: World;
  let ids: string[];
  let readerKey: { id: string; token: string };
  const list = (query = "") => reader.api("GET", `/api/emails${query}`, { token: readerKey.token });
  const idsOf = async (query = ""): Promise<string[]> => {
    const { status, body, text } = await list(query);
    expect(status, text).toBe(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  beforeAll(async () => {
    reader = await createWorld();
    await reader.domain("example.org");
    await reader.domain("second.org");
    readerKey = await reader.key();
    ids = [];
    for (let n = 0; n < 25; n++) {
      const { body } = await reader.api("POST", "/api/emails", {
        token: readerKey.token,
        body: {
          ...MAIL,
          from: n === 3 ? "zoe@second.org" : MAIL.from,
          to: n === 4 ? ["ben@example.net", "Rare <rare@example.net>"] : MAIL.to,
          subject: n === 5 ? "50% off, for_you \\o/" : `Hello ${n}`,
          tags: n === 6 ? [{ name: "kind", value: "news" }] : [],
        },
      });
      ids.unshift(String(body.id));
    }
  });
  afterAll(() => reader.close());

  test("shows the newest 20 first and says that there are more", async () => {
    const { body } = await list();
    expect(body).toMatchObject({ object: "list", has_more: true });
    expect(await idsOf()).toEqual(ids.slice(0, 20));
  });

  test("goes on after the last row and back before the first", async () => {
    expect(await idsOf(`?limit=10&after=${ids[9]}`)).toEqual(ids.slice(10, 20));
    expect(await idsOf(`?limit=10&before=${ids[10]}`)).toEqual(ids.slice(0, 10));
    expect(await idsOf(`?limit=3&before=${ids[10]}`)).toEqual(ids.slice(7, 10));
    expect((await list(`?after=${ids[19]}`)).body.has_more).toBe(false);
    expect((await list(`?limit=3&before=${ids[10]}`)).body.has_more).toBe(true);
    expect(await idsOf(`?after=${ids[24]}`)).toEqual([]);
  });

  test("shows neither bodies nor another team's mail", async () => {
    const other = await (await reader.otherTeam()).key();
    const { body } = await reader.api("GET", "/api/emails", { token: other.token });
    expect(body).toEqual({ object: "list", has_more: false, data: [] });
    for (const row of (await list()).body.data as object[]) expect(row).not.toHaveProperty("html");
  });

  test.each([
    ["recipient=rare%40example.net", [20]],
    ["to=rare@EXAMPLE.net", [20]],
    ["sender=zoe@second.org", [21]],
    ["from=zoe@second.org", [21]],
    ["domain=Second.org", [21]],
    ["subject=50%25%20off", [19]],
    ["subject=for_you", [19]],
    ["subject=HELLO%202", [0, 1, 2, 3, 4, 22]],
    ["subject=%25%25", []],
    ["tag=kind", [18]],
    ["tag=kind:news", [18]],
    ["tag=kind:other", []],
    ["status=delivered", []],
    ["since=2099-01-01T00:00:00Z", []],
    ["until=2000-01-01T00:00:00%2B02:00", []],
    ["recipient=rare@example.net&sender=zoe@second.org", []],
  ])("filters by %s", async (query, places) => {
    expect(await idsOf(`?limit=100&${query}`)).toEqual(places.map((place) => ids[place]));
  });

  test("filters by key and by status", async () => {
    expect(await idsOf(`?limit=100&key=${readerKey.id}`)).toEqual(ids);
    expect(await idsOf(`?key=${ids[0]}`)).toEqual([]);
    expect(await idsOf("?limit=100&status=queued")).toEqual(ids);
    expect(await idsOf("?limit=100&since=2000-01-01T00:00:00Z&until=2099-01-01T00:00:00Z")).toEqual(ids);
  });

  test("takes a parameter without value as none", async () => {
    expect(await idsOf("?limit=&after=&status=&subject=")).toHaveLength(20);
  });

  test.each([
    ["limit=0", /`limit`.*1 to 100/],
    ["limit=101", /`limit`/],
    ["limit=-1", /`limit`/],
    ["limit=1e1", /`limit`/],
    ["limit=%2B5", /`limit`/],
    ["limit=5&limit=6", /`limit` is given twice/],
    ["after=x", /`after`/],
    ["before=1%20or%201", /`before`/],
    ["status=sleeping", /`status`.*one of complained/],
    ["recipient=nobody", /`recipient`/],
    ["to=a@example.net&recipient=a@example.net", /`recipient` and `to`/],
    ["domain=localhost", /`domain`/],
    ["tag=a%20b", /`tag`/],
    ["key=mine", /`key`/],
    ["since=yesterday", /`since`.*ISO 8601/],
    ["since=2026-01-01T00:00:00", /`since`.*zone/],
    ["since=0000-01-01T00:00:00Z", /`since`/],
    ["until=9999-12-31T23:59:59-12:00", /`until`/],
    ["subject=a%00b", /`subject`.*NUL/],
    ["page=2", /Unknown query parameter `page`\. Known: limit, after/],
    ["__proto__=2", /Unknown query parameter `__proto__`/],
    ["constructor=2", /Unknown query parameter `constructor`/],
    [`subject=${"x".repeat(201)}`, /`subject`.*200/],
  ])("refuses ?%s", async (query, message) => {
    const { status, body } = await list(`?${query}`);
    expect(body.message).toMatch(message);
    expect(status).toBe(422);
  });

  test("refuses two cursors", async () => {
    const { status, body } = await list(`?after=${ids[0]}&before=${ids[1]}`);
    expect(status).toBe(422);
    expect(body.message).toMatch(/`after`.*`before`/);
  });
});

describe("one mail", () => {
  test("of another team, or of nobody, is the same 404", async () => {
    const other = await world.otherTeam();
    const { token: foreign } = await other.key();
    const id = await accepted();
    const answers = await Promise.all([
      world.api("GET", `/api/emails/${id}`, { token: foreign, headers: { "x-request-id": "same-request" } }),
      world.api("GET", "/api/emails/018f0000-0000-7000-8000-000000000000", {
        token: foreign,
        headers: { "x-request-id": "same-request" },
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0].body).toEqual(answers[1].body);
  });

  test("under what is no UUID is 422 and says so", async () => {
    for (const id of ["1", "%00", "..%2f..%2fetc", "018f0000-0000-7000-8000-00000000000g", "%252e"]) {
      const { status, body } = await get(`/api/emails/${id}`);
      if (id === "%00") expect(status).toBe(404);
      else expect({ status, name: body.name }).toEqual({ status: 422, name: "invalid_parameter" });
    }
  });

  test("tells for each recipient its state, its last reply, and when and by which rule it is tried again", async () => {
    const id = await accepted({ to: ["a@example.net", "b@example.net", "c@example.net", "d@example.net"] });
    const set = (address: string, change: PgUpdateSetSource<typeof deliveries>) =>
      world.deps.db
        .update(deliveries)
        .set(change)
        .where(and(eq(deliveries.emailId, id), eq(deliveries.address, address)));
    await set("a@example.net", { dueAt: sql`'infinity'`, waitRule: "no_transport" });
    await set("b@example.net", {
      attempts: 2,
      dueAt: new Date("2030-01-01T00:00:00Z"),
      waitRule: "retry_schedule",
      lastCode: 451,
      lastEnhanced: "4.7.1",
      lastText: "Try again later",
      lastHost: "mx.example.net",
      lastReason: "The server asked to try again later.",
    });
    await set("c@example.net", { status: "sending", stage: "claimed", attempts: 1 });
    await set("d@example.net", { status: "unknown", attempts: 1 });
    expect((await show(id)).recipients).toEqual([
      {
        address: "a@example.net",
        kind: "to",
        status: "queued",
        attempts: 0,
        last_reply: null,
        reason: null,
        next_attempt_at: null,
        rule: "no_transport",
        rule_text: expect.stringMatching(/SMTP_URL/),
      },
      {
        address: "b@example.net",
        kind: "to",
        status: "deferred",
        attempts: 2,
        last_reply: { code: 451, enhanced: "4.7.1", text: "Try again later", host: "mx.example.net" },
        reason: "The server asked to try again later.",
        next_attempt_at: "2030-01-01T00:00:00.000Z",
        rule: "retry_schedule",
        rule_text: expect.stringMatching(/retry schedule/),
      },
      expect.objectContaining({ status: "sending", next_attempt_at: null, rule: null, rule_text: null }),
      expect.objectContaining({ status: "unknown", next_attempt_at: null, rule: "held" }),
    ]);
  });

  test("tells its events with times in UTC, also those that the database wrote without zone", async () => {
    const id = await accepted();
    await world.deps.hot`
      insert into email_events (id, team_id, email_id, type, recipient, data)
      values (gen_random_uuid(), ${world.id}, ${id}, 'email.delivery_delayed', 'ben@example.net',
        ${'{"attempt":1,"nextAttemptAt":"2030-01-01T00:00:00.5","rule":"retry_schedule"}'}::text::jsonb)`;
    expect((await show(id)).events).toMatchObject([
      { type: "email.queued", recipient: null },
      {
        type: "email.delivery_delayed",
        recipient: "ben@example.net",
        data: { attempt: 1, next_attempt_at: "2030-01-01T00:00:00.500Z", rule: "retry_schedule" },
      },
    ]);
  });

  test.each<[EmailStatus, string]>([
    ["complained", "complained"],
    ["bounced", "bounced"],
    ["failed", "failed"],
    ["unknown", "delivery_delayed"],
    ["deferred", "delivery_delayed"],
    ["sending", "queued"],
    ["queued", "queued"],
    ["scheduled", "scheduled"],
    ["sent", "sent"],
    ["delivered", "delivered"],
    ["suppressed", "suppressed"],
    ["canceled", "canceled"],
  ])("in the state %s has the dialect's last event %s", async (status, lastEvent) => {
    const id = await accepted();
    await world.deps.hot`update emails set status = ${status} where id = ${id}`;
    expect(await show(id)).toMatchObject({ status, last_event: lastEvent });
  });
});

test("from the built-in domain mail goes to that domain only, unless it is merely captured", async () => {
  const relay = await createWorld({ transportKind: "relay" });
  try {
    const { token: builtIn } = await relay.key({ domains: ["posthorn.test"] });
    const from = (to: unknown) =>
      relay.api("POST", "/api/emails", {
        token: builtIn,
        body: { ...MAIL, from: "ann@posthorn.test", to },
      });
    expect((await from("delivered@posthorn.test")).status).toBe(200);
    const { status, body } = await from(["delivered@posthorn.test", "ben@example.net"]);
    expect(status).toBe(422);
    expect(body.message).toMatch(/ben@example\.net.*domain of your own/);
  } finally {
    await relay.close();
  }
  await accepted({ from: "ann@posthorn.test" });
});
