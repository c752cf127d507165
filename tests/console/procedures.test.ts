import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { memberships } from "#db/schema/teams";
import { tick } from "#server/delivery/tick";
import { newId } from "#server/platform/ids";
import { endSession } from "#server/services/people/sessions";
import { createTeam } from "#server/services/teams";
import { presentEmail } from "#server/shared/wire/email";
import { type Console, cookiesOf, noCookies, openConsole, queryPath } from "../support/console/console";

let console: Console;
let team: string;
let userId: string;
let sessionId: string;
beforeAll(async () => {
  console = await openConsole();
  team = console.world.ctx.teamId;
});
afterAll(() => console.close());
beforeEach(async () => {
  userId = (await console.person()).id;
  sessionId = (await console.session(userId)).id;
});

const caller = async (id = sessionId) => console.callerOf(await cookiesOf(id));
const get = async (procedure: string, input: unknown) =>
  console.call(queryPath(procedure, input), { cookies: await cookiesOf(sessionId) });
const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]+"/, "");

describe("a request", () => {
  test("without a session is rejected for every procedure", async () => {
    for (const path of [
      queryPath("emails.list", { team }),
      queryPath("emails.get", { team, id: newId() }),
      queryPath("emails.content", { team, id: newId() }),
      queryPath("emails.html", { team, id: newId() }),
      "service.readiness",
    ]) {
      const { status, text } = await console.call(path, { cookies: noCookies });
      expect(status).toBe(401);
      expect(JSON.parse(text).error.data).toMatchObject({ code: "UNAUTHORIZED" });
    }
  });

  test("after the end of its session is rejected", async () => {
    const before = await caller();
    expect((await before.emails.list({ team })).rows).toBeInstanceOf(Array);
    await endSession(console.deps, sessionId);
    await expect((await caller()).emails.list({ team })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("with an invalid input is rejected in words, with the name of the field", async () => {
    const { emails, suppressions } = await caller();
    const messageOf = async (call: Promise<unknown>) =>
      call.then(
        () => null,
        (error: Error) => error.message,
      );
    expect(await messageOf(suppressions.add({ team, text: "" }))).toBe("Text: Enter a value.");
    expect(await messageOf(suppressions.add({ team, text: "x".repeat(50_001) }))).toBe(
      "Text: Enter at most 50000 characters.",
    );
    const retry = { team, id: newId(), acceptDuplicates: "yes" as never };
    expect(await messageOf(emails.retry(retry))).toBe("Accept duplicates: Enter a valid value.");
    const unknown = { team, text: "ann@example.org", more: 1 };
    expect(await messageOf(suppressions.add(unknown))).toBe(
      "This page is out of date: it sends the unknown field “more”. Reload it.",
    );
  });

  test("of a member who was just removed returns not found for the team", async () => {
    await (await caller()).emails.list({ team });
    await console.deps.db
      .delete(memberships)
      .where(and(eq(memberships.teamId, team), eq(memberships.userId, userId)));
    await expect((await caller()).emails.list({ team })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("in two tabs with two teams uses the team of each tab", async () => {
    const second = await createTeam(console.deps, { name: "Second" });
    await console.deps.db.insert(memberships).values({ teamId: second.id, userId, role: "viewer" });
    const { id } = await console.world.send({ subject: "Only in the first" });
    const both = await caller();
    expect((await both.emails.list({ team })).rows.map((row) => row.id)).toContain(id);
    expect((await both.emails.list({ team: second.id })).rows).toEqual([]);
  });
});

describe("data of another team", () => {
  test("is reported as not found: an email", async () => {
    const { id } = await console.world.send();
    const stranger = await createTeam(console.deps, { name: "Stranger" });
    const person = await console.person({ teamId: stranger.id });
    sessionId = (await console.session(person.id)).id;
    for (const procedure of ["emails.get", "emails.content", "emails.html"]) {
      const foreign = await get(procedure, { team: stranger.id, id });
      const missing = await get(procedure, { team: stranger.id, id: newId() });
      expect(foreign.status).toBe(404);
      expect(withoutRequestId(foreign.text)).toBe(withoutRequestId(missing.text));
    }
  });

  test("is reported as not found: a team", async () => {
    const stranger = await createTeam(console.deps, { name: "Closed" });
    const foreign = await get("emails.list", { team: stranger.id });
    const missing = await get("emails.list", { team: newId() });
    expect(foreign.status).toBe(404);
    expect(withoutRequestId(foreign.text)).toBe(withoutRequestId(missing.text));
  });

  test("is in no list and under no filter", async () => {
    const { id } = await console.world.send({ to: ["shared@example.net"], subject: "Shared words" });
    const stranger = await createTeam(console.deps, { name: "Beside" });
    const person = await console.person({ teamId: stranger.id });
    const theirs = await caller((await console.session(person.id)).id);
    for (const filter of [{}, { recipient: "shared@example.net" }, { subject: "Shared" }])
      expect((await theirs.emails.list({ team: stranger.id, ...filter })).rows).toEqual([]);
    for (const cursor of [{ before: id }, { after: id }])
      await expect(theirs.emails.list({ team: stranger.id, ...cursor })).rejects.toThrow(
        /this list has no row/,
      );
  });
});

describe("the email list", () => {
  test("pages from newest to oldest and back, each email once", async () => {
    const fresh = await createTeam(console.deps, { name: "Many" });
    await console.deps.db.insert(memberships).values({ teamId: fresh.id, userId, role: "member" });
    await console.world.hot`
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
      select ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${fresh.id}, 'a@example.org', 'a@example.org',
        'example.org', '["b@example.net"]', 'Mail ' || n, n || '@example.org', 'delivered'
      from generate_series(1, 60) n`;
    const all = await caller();
    const list = (query: { after?: string; before?: string }) =>
      all.emails.list({ team: fresh.id, ...query });
    const first = await list({});
    const second = await list({ after: first.rows.at(-1)?.id });
    const third = await list({ after: second.rows.at(-1)?.id });
    const subjects = [first, second, third].flatMap(({ rows }) => rows.map(({ subject }) => subject));
    expect(subjects).toEqual(Array.from({ length: 60 }, (_, i) => `Mail ${60 - i}`));
    expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    expect(await list({ before: second.rows[0]?.id })).toEqual({ ...first, hasMore: false });
  });

  test("filters by status, part of the subject and complete recipient", async () => {
    const { id } = await console.world.send({ to: ["needle@example.net"], subject: "50% off_today" });
    const all = await caller();
    const ids = async (filter: object) =>
      (await all.emails.list({ team, ...filter })).rows.map((row) => row.id);
    expect(await ids({ subject: "% OFF_" })).toEqual([id]);
    expect(await ids({ recipient: "needle@example.net" })).toEqual([id]);
    expect(await ids({ recipient: "needle" })).toEqual([]);
    expect(await ids({ status: "queued" })).toContain(id);
    expect(await ids({ status: "bounced" })).not.toContain(id);
  });

  test("exposes no internal delivery state", async () => {
    const { id } = await console.world.send();
    const all = await caller();
    const text = JSON.stringify([await all.emails.list({ team }), await all.emails.get({ team, id })]);
    expect(text).not.toMatch(/lease|stage|passwordHash|secret/i);
  });

  test("shows a held email, which has no next attempt", async () => {
    const { id } = await console.world.send();
    await console.world
      .hot`update deliveries set due_at = 'infinity', wait_rule = 'no_transport' where email_id = ${id}`;
    const [recipient] = (await (await caller()).emails.get({ team, id })).recipients;
    expect(recipient).toMatchObject({ next_attempt_at: null, rule: "no_transport" });
  });

  test("shows a recipient's status in the terms of the console, with advice", async () => {
    const { id } = await console.world.send({ to: ["bounced@backstamp.test", "deferred@backstamp.test"] });
    await tick(console.world.withTransport(), { budgetMs: 1_000 });
    const shown = presentEmail(await console.world.email(id)).recipients;
    const seen = (await (await caller()).emails.get({ team, id })).recipients;
    expect(seen.map(({ address, status, advice }) => ({ address, status, advice }))).toEqual(
      shown.map(({ address, status, advice }) => ({ address, status, advice })),
    );
    expect(seen).toEqual([
      expect.objectContaining({ status: "bounced", advice: expect.stringMatching(/\S{3}/) }),
      expect.objectContaining({ status: "deferred", advice: expect.stringMatching(/\S{3}/) }),
    ]);
  });
});

describe("an error", () => {
  test("that is unexpected is a sentence with a request id, and the details are logged", async () => {
    await console.world.send({ to: ["private@example.net"] });
    await console.world.hot`alter table emails rename to emails_away`;
    await console.world.hot`create view emails as select * from emails_away where 1 / (select 0) > 0`;
    try {
      const { status, text } = await get("emails.list", { team, recipient: "private@example.net" });
      expect(status).toBe(500);
      const { error } = JSON.parse(text);
      expect(error.message).toBe("Something went wrong. Contact the operator and include the request id.");
      expect(text).not.toMatch(/select|emails_away|private@|stack|node_modules|Drizzle|Failed query/i);
      const line = console.lines.find(({ facts }) => facts.requestId === error.data.requestId);
      expect(line).toMatchObject({ event: "console.unexpected", facts: { code: "22012" } });
      expect(JSON.stringify(console.lines)).not.toContain("private@example.net");
    } finally {
      await console.world.hot`drop view emails`;
      await console.world.hot`alter table emails_away rename to emails`;
    }
  });

  test("of the input names the field", async () => {
    const { status, text } = await get("emails.list", { team, status: "lost" });
    expect(status).toBe(400);
    expect(JSON.parse(text).error.message).toMatch(/^Status: Must be one or several/);
  });

  test("for malicious input is never a server error", async () => {
    for (const input of [
      null,
      [],
      "x",
      { team: {} },
      { team, subject: "\0" },
      { team, after: "x" },
      { team, id: "\0" },
      { team: "x".repeat(1000) },
    ])
      for (const procedure of ["emails.list", "emails.get"]) {
        const { status } = await get(procedure, input);
        expect([200, 400, 404]).toContain(status);
      }
    const broken = await console.call("emails.list?input=%7B", { cookies: await cookiesOf(sessionId) });
    expect(broken.status).toBe(400);
  });
});

describe("a POST", () => {
  const post = async (headers: Record<string, string>, body = "{}") =>
    console.call("emails.list", {
      method: "POST",
      body,
      headers: { "content-length": String(body.length), ...headers },
      cookies: await cookiesOf(sessionId),
    });
  const json = { "content-type": "application/json" };

  test("from another site, or without an origin, is rejected", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://mail.example.org",
      "https://mail.example.org.evil.example",
    ])
      expect((await post({ ...json, origin, host: "mail.example.org" })).status).toBe(403);
    expect((await post(json)).status).toBe(403);
  });

  test("with the content type of a form is rejected", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
      expect((await post({ "content-type": type, origin: "https://mail.example.org" })).status).toBe(415);
  });

  test("of unknown or excessive length is rejected before its body is read", async () => {
    const origin = "https://mail.example.org";
    for (const length of ["", "-", "2000000", "1e99"])
      expect((await post({ ...json, origin, "content-length": length })).status).toBe(413);
  });

  test("from our own page reaches mutations, but not queries", async () => {
    expect((await post({ ...json, origin: "https://mail.example.org" })).status).toBe(405);
  });
});

test("a batch contains at most ten calls", async () => {
  const cookies = await cookiesOf(sessionId);
  const batch = (count: number) => {
    const paths = Array.from({ length: count }, () => "service.readiness").join(",");
    return console.call(`${paths}?batch=1&input=%7B%7D`, { cookies });
  };
  expect((await batch(10)).status).toBe(200);
  expect((await batch(11)).status).toBe(400);
});
