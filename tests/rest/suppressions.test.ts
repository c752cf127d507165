import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import type { CallOptions } from "../support/rest";
import { createWorld, type World } from "../support/world";

type Entry = { id: string; email: string; origin: string; source_id: string | null; created_at: string };

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.deps.hot`delete from suppressions`;
});

const call = (method: string, path: string, body?: object) => world.api(method, path, { token, body });
const add = async (email: string) => String((await call("POST", "/api/suppressions", { email })).body.id);
const list = async (query = "") =>
  (await call("GET", `/api/suppressions${query}`)).body as { has_more: boolean; data: Entry[] };
const emails = async (query?: string) => (await list(query)).data.map(({ email }) => email);
const upload = (raw: string | Uint8Array, headers: CallOptions["headers"] = {}) =>
  world.api("POST", "/api/suppressions/csv", {
    token,
    raw,
    headers: { "content-type": "text/csv", ...headers },
  });

describe("an address", () => {
  test("is added once, whatever the number of calls and the letter case", async () => {
    const first = await call("POST", "/api/suppressions", { email: "Ann <Ann@Example.com>" });
    expect(first).toMatchObject({ status: 201, body: { object: "suppression" } });
    const again = await call("POST", "/api/suppressions", { email: "ann@example.com" });
    expect(again.body).toEqual(first.body);
    expect(await list()).toMatchObject({
      object: "list",
      has_more: false,
      data: [
        {
          id: first.body.id,
          email: "ann@example.com",
          origin: "manual",
          source_id: null,
          created_at: expect.stringMatching(/Z$/),
        },
      ],
    });
  });

  test("can be read and removed by id or by percent-encoded address", async () => {
    const email = "a/n+n%40@exämple.com".replace("%40", "");
    const id = await add(email);
    const stored = { object: "suppression", id, email: "a/n+n@xn--exmple-cua.com", origin: "manual" };
    for (const name of [id, encodeURIComponent(email), encodeURIComponent("A/N+N@EXÄMPLE.COM")])
      expect(await call("GET", `/api/suppressions/${name}`)).toMatchObject({ status: 200, body: stored });
    expect(await call("DELETE", `/api/suppressions/${encodeURIComponent(email)}`)).toMatchObject({
      status: 200,
      body: { object: "suppression", id, deleted: true },
    });
    expect((await call("GET", `/api/suppressions/${id}`)).status).toBe(404);
    expect((await call("DELETE", `/api/suppressions/${id}`)).status).toBe(404);
    expect((await call("GET", "/api/suppressions/nobody%40example.com")).status).toBe(404);
    expect((await call("GET", "/api/suppressions/nobody")).status).toBe(422);
  });

  test.each([{}, { email: "" }, { email: "ann" }, { email: ["ann@example.com"] }, { email: 1 }])(
    "is rejected if invalid: %j",
    async (body) => {
      expect((await call("POST", "/api/suppressions", body)).status).toBe(422);
      expect(await emails()).toEqual([]);
    },
  );
});

describe("the list", () => {
  test("supports both cursors, newest first, and a filter by origin", async () => {
    for (const name of ["a", "b", "c", "d"]) await add(`${name}@example.com`);
    await world.deps.hot`update suppressions set origin = 'bounce' where address like 'b@%'`;
    await world.deps.hot`update suppressions set origin = 'complaint' where address like 'c@%'`;
    const newest = await list("?limit=2");
    expect(newest.data.map(({ email }) => email)).toEqual(["d@example.com", "c@example.com"]);
    expect(newest.has_more).toBe(true);
    const older = await list(`?limit=2&after=${newest.data[1]?.id}`);
    expect(older.data.map(({ email }) => email)).toEqual(["b@example.com", "a@example.com"]);
    expect(older.has_more).toBe(false);
    expect(await emails(`?limit=1&before=${older.data[0]?.id}`)).toEqual(["c@example.com"]);
    expect(await emails("?origin=bounce")).toEqual(["b@example.com"]);
    expect(await emails("?origin=complaint")).toEqual(["c@example.com"]);
    expect(await emails("?origin=manual")).toEqual(["d@example.com", "a@example.com"]);
    const unknown = await call("GET", "/api/suppressions?origin=spam");
    expect(unknown).toMatchObject({ status: 422, body: { message: expect.stringContaining("complaint") } });
  });

  test("belongs to one team", async () => {
    const other = await world.otherTeam();
    const foreign = await other.key();
    const id = await add("ann@example.com");
    const by = { token: foreign.token };
    expect((await world.api("GET", "/api/suppressions", by)).body.data).toEqual([]);
    expect((await world.api("GET", "/api/suppressions/csv", by)).text).not.toContain("ann");
    expect((await world.api("DELETE", "/api/suppressions/ann%40example.com", by)).status).toBe(404);
    for (const body of [{ ids: [id] }, { emails: ["ann@example.com"] }])
      expect((await world.api("POST", "/api/suppressions/batch/remove", { ...by, body })).body).toEqual({
        data: [],
      });
    const own = await world.api("POST", "/api/suppressions", { ...by, body: { email: "ann@example.com" } });
    expect(own.body.id).not.toBe(id);
    expect(await emails()).toEqual(["ann@example.com"]);
  });
});

describe("a batch", () => {
  test("adds up to 100 addresses and returns their ids in the order of the request", async () => {
    const known = await add("b@example.com");
    const reply = await call("POST", "/api/suppressions/batch/add", {
      emails: ["c@example.com", "B@example.com", "a@example.com", "c@example.com"],
    });
    expect(reply.status).toBe(201);
    const ids = (reply.body.data as { object: string; id: string }[]).map(({ id }) => id);
    expect(ids[1]).toBe(known);
    expect(ids[3]).toBe(ids[0]);
    for (const [index, email] of ["c", "b", "a"].entries())
      expect((await call("GET", `/api/suppressions/${ids[index]}`)).body.email).toBe(`${email}@example.com`);
  });

  test("removes by ids or addresses, and returns the removed entries", async () => {
    const [a, b, c] = [await add("a@example.com"), await add("b@example.com"), await add("c@example.com")];
    const byIds = await call("POST", "/api/suppressions/batch/remove", { ids: [a, b, crypto.randomUUID()] });
    expect(byIds.status).toBe(200);
    expect(byIds.body.data).toHaveLength(2);
    expect(byIds.body.data).toContainEqual({ object: "suppression", id: a, deleted: true });
    const byEmails = await call("POST", "/api/suppressions/batch/remove", {
      emails: ["C@example.com", "nobody@example.com"],
    });
    expect(byEmails.body).toEqual({ data: [{ object: "suppression", id: c, deleted: true }] });
    expect(await emails()).toEqual([]);
  });

  const many = Array.from({ length: 101 }, (_, n) => `r${n}@example.com`);
  test.each([
    ["nothing is added", "add", {}],
    ["an empty array is added", "add", { emails: [] }],
    ["more than 100 are added", "add", { emails: many }],
    ["one address is invalid", "add", { emails: ["a@example.com", "nonsense"] }],
    ["it is not an array", "add", { emails: "a@example.com" }],
    ["nothing is removed", "remove", {}],
    ["emails and ids are used", "remove", { emails: ["a@example.com"], ids: [crypto.randomUUID()] }],
    ["an id is invalid", "remove", { ids: ["1"] }],
    ["both arrays are empty", "remove", { emails: [], ids: [] }],
    ["more than 100 are removed", "remove", { emails: many }],
  ])("is rejected completely if %s", async (_, verb, body) => {
    await add("kept@example.com");
    const reply = await call("POST", `/api/suppressions/batch/${verb}`, body);
    expect(reply.status).toBe(422);
    expect(await emails()).toEqual(["kept@example.com"]);
  });

  test("does not deadlock with others that share addresses in another order", async () => {
    const all = Array.from({ length: 100 }, (_, n) => `r${n}@example.com`);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        call("POST", `/api/suppressions/batch/${n % 3 === 2 ? "remove" : "add"}`, {
          emails: n % 2 ? all : all.toReversed(),
        }),
      ),
    );
    expect(replies.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  });
});

describe("as CSV", () => {
  test("the complete list is exported, oldest first, and can be imported again", async () => {
    const odd = ["=1+1@example.com", "+a@example.com", "-a@example.com", "'=b@example.com", "'c@example.com"];
    for (const email of ["ann@example.com", ...odd]) await add(email);
    const file = await world.api("GET", "/api/suppressions/csv", { token });
    expect(file.status).toBe(200);
    expect(file.headers["content-type"]).toMatch(/^text\/csv/);
    expect(file.headers["content-disposition"]).toBe('attachment; filename="suppressions.csv"');
    const lines = file.text.split("\r\n");
    expect(lines[0]).toBe("email,origin,source_id,lists_only,created_at");
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual([
      "ann@example.com",
      "'=1+1@example.com",
      "'+a@example.com",
      "'-a@example.com",
      "''=b@example.com",
      "'c@example.com",
      "",
    ]);
    expect(lines[1]).toMatch(/^ann@example\.com,manual,,false,\d{4}-/);
    expect(await upload(file.text)).toMatchObject({
      status: 200,
      body: { added: 0, existing: 6, faulty: 0 },
    });
    await world.deps.hot`delete from suppressions`;
    expect(await upload(file.text)).toMatchObject({
      status: 200,
      body: { added: 6, existing: 0, faulty: 0 },
    });
    expect(new Set(await emails())).toEqual(new Set(["ann@example.com", ...odd]));
  });

  test("a file is read by line, and the response counts new, existing and invalid lines", async () => {
    await add("known@example.com");
    const file =
      '\ufeffName;E-Mail\r\nAnn;Ann@example.com\r\n"Ben; B.";ben@example.net\r\n\r\nX;nonsense\r\nK;known@example.com\r\nA;ANN@example.com\r\nZ;\r\n';
    const reply = await upload(file);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      object: "suppression_import",
      added: 2,
      added_by_origin: { bounce: 0, complaint: 0, manual: 2 },
      changed: 0,
      repeated: 1,
      unknown_reasons: 0,
      unread_dates: 0,
      existing: 1,
      faulty: 2,
      faults: [
        { line: 5, message: expect.stringContaining("@") },
        { line: 8, message: expect.stringContaining("empty") },
      ],
    });
    expect(await emails()).toEqual(expect.arrayContaining(["ann@example.com", "ben@example.net"]));
  });

  test("without a header the first column counts, and an empty file changes nothing", async () => {
    expect((await upload("ann@example.com\nben@example.com")).body).toMatchObject({ added: 2, faulty: 0 });
    expect((await upload("email\n")).body).toMatchObject({ added: 0, existing: 0, faulty: 0 });
  });

  test.each<[name: string, raw: string | Uint8Array, status: number, message: RegExp]>([
    ["with an unclosed quote", `ann@example.com\n"${"x".repeat(20_000)}`, 422, /line|quotes/],
    ["with too many lines", "a@example.com\n".repeat(100_001), 422, /100,000/],
    ["that is not UTF-8", Buffer.from([0x61, 0x40, 0xff, 0x0a]), 400, /UTF-8/],
  ])("a file %s is rejected completely", async (_, raw, status, message) => {
    const good = Buffer.from("good@example.com\n");
    const reply = await upload(Buffer.concat([good, Buffer.from(raw)]));
    expect(reply).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
    expect(await emails()).toEqual([]);
  });

  test("a file that is too large is rejected while it is read, and nothing is stored", async () => {
    const bodyMaxBytes = world.deps.bodyMaxBytes;
    world.deps.bodyMaxBytes = 10_000;
    const raw = "a@example.com\n".repeat(2_000);
    const chunked = { "transfer-encoding": "chunked", "content-length": [] };
    for (const headers of [{}, chunked]) expect((await upload(raw, headers)).status).toBe(413);
    world.deps.bodyMaxBytes = bodyMaxBytes;
    expect(await emails()).toEqual([]);
  });

  test("tens of thousands of lines can be imported and exported", async () => {
    const count = 30_000;
    const raw = Array.from({ length: count }, (_, n) => `r${n}@example.com`).join("\n");
    expect((await upload(raw)).body).toMatchObject({ added: count, existing: 0, faulty: 0 });
    const { text } = await world.api("GET", "/api/suppressions/csv", { token });
    expect(new Set(text.trim().split("\r\n").slice(1)).size).toBe(count);
  });
});

test("subscribed endpoints get one event for each added and removed entry, in the same transaction", async () => {
  const webhook = await call("POST", "/api/webhooks", {
    endpoint: "https://example.com/hook",
    events: ["suppression.added", "suppression.removed"],
  });
  const id = await add("ann@example.com");
  await add("ann@example.com");
  await upload("ann@example.com\nben@example.com\n");
  await call("DELETE", `/api/suppressions/${id}`);
  await call("POST", "/api/suppressions/batch/remove", { emails: ["ben@example.com", "ann@example.com"] });
  const path = `/api/webhooks/${webhook.body.id}/events`;
  const rows = (await call("GET", path)).body.data as { id: string }[];
  const events = await Promise.all(
    rows.map(
      async ({ id }) => (await call("GET", `${path}/${id}`)).body.payload as { type: string; data: Entry },
    ),
  );
  events.reverse();
  expect(events.map(({ type, data }) => [type, data.email])).toEqual([
    ["suppression.added", "ann@example.com"],
    ["suppression.added", "ben@example.com"],
    ["suppression.removed", "ann@example.com"],
    ["suppression.removed", "ben@example.com"],
  ]);
  expect(events[0]?.data).toEqual({
    id,
    email: "ann@example.com",
    origin: "manual",
    source_id: null,
    lists_only: false,
    created_at: expect.stringMatching(/Z$/),
  });
});

test("an email to a suppressed address has a suppressed event with the reason in every interface with events", async () => {
  await add("delivered@backstamp.test");
  const newEmail = {
    from: "ann@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "Hello",
    html: "<p>Hi</p>",
  };
  const { id } = (await call("POST", "/api/emails", newEmail)).body;
  await tick({ ...world.deps, transport: null }, { budgetMs: 20_000 });
  const suppressed = {
    type: "email.suppressed",
    recipient: "delivered@backstamp.test",
    data: { suppressed_by: "manual", reason: expect.stringMatching(/suppression list/) },
  };
  const email = (await call("GET", `/api/emails/${id}`)).body;
  expect(email).toMatchObject({ status: "suppressed", last_event: "suppressed" });
  expect((email.events as object[]).at(-1)).toMatchObject(suppressed);
  await expect
    .poll(async () => (await call("GET", `/api/events?email_id=${id}&type=email.suppressed`)).body.data, {
      timeout: 20_000,
    })
    .toMatchObject([suppressed]);
});
