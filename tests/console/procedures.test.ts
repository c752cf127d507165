import { beforeEach, describe, expect, test } from "vitest";
import { memberships } from "#db/schema/teams";
import { newId } from "#server/platform/ids";
import { createTeam } from "#server/services/teams";
import { cookiesOf, openConsole, queryPath } from "../support/console/console";

let userId: string;
let sessionId: string;
const console = await openConsole();
const team = console.world.ctx.teamId;
beforeEach(async () => {
  userId = (await console.person()).id;
  sessionId = (await console.session(userId)).id;
});

const caller = async (id = sessionId) => console.callerOf(await cookiesOf(id));
const get = async (procedure: string, input: unknown) =>
  console.call(queryPath(procedure, input), { cookies: await cookiesOf(sessionId) });

describe("a request", () => {
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

  test("in two tabs with two teams uses the team of each tab", async () => {
    const second = await createTeam(console.deps, { name: "Second" });
    await console.deps.db.insert(memberships).values({ teamId: second.id, userId, role: "viewer" });
    const { id } = await console.world.send({ subject: "Only in the first" });
    const both = await caller();
    expect((await both.emails.list({ team })).rows.map((row) => row.id)).toContain(id);
    expect((await both.emails.list({ team: second.id })).rows).toEqual([]);
  });
});

describe("the email list", () => {
  test("exposes no internal delivery state", async () => {
    const { id } = await console.world.send();
    const all = await caller();
    const text = JSON.stringify([await all.emails.list({ team }), await all.emails.get({ team, id })]);
    expect(text).not.toMatch(/lease|stage|passwordHash|secret/i);
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
