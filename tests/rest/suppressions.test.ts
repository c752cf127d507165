import { beforeEach, describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

type Entry = { id: string; email: string; origin: string; source_id: string | null; created_at: string };

/** As many as the connections for transactions, because a call that waits too long for one gets 503. */
const batchesAtOnce = 8;

const { world, call } = await openTestApp({ connectionsMax: 2 * batchesAtOnce });
beforeEach(async () => {
  await world.hot`delete from suppressions`;
});

const add = async (email: string) => String((await call("POST", "/api/suppressions", { email })).body.id);
const list = async (query = "") =>
  (await call("GET", `/api/suppressions${query}`)).body as { has_more: boolean; data: Entry[] };
const emails = async (query?: string) => (await list(query)).data.map(({ email }) => email);

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

  test("is rejected if invalid", async () => {
    for (const body of [{}, { email: "" }, { email: "ann" }, { email: ["ann@example.com"] }, { email: 1 }])
      expect((await call("POST", "/api/suppressions", body)).status, JSON.stringify(body)).toBe(422);
    expect(await emails()).toEqual([]);
  });
});

describe("the list", () => {
  test("can be filtered by origin", async () => {
    for (const name of ["a", "b", "c", "d"]) await add(`${name}@example.com`);
    await world.hot`update suppressions set origin = 'bounce' where address like 'b@%'`;
    await world.hot`update suppressions set origin = 'complaint' where address like 'c@%'`;
    expect(await emails("?origin=bounce")).toEqual(["b@example.com"]);
    expect(await emails("?origin=complaint")).toEqual(["c@example.com"]);
    expect(await emails("?origin=manual")).toEqual(["d@example.com", "a@example.com"]);
    expect(await call("GET", "/api/suppressions?origin=spam")).toMatchObject(rejected(422, "complaint"));
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
  test("is rejected completely if it is invalid", async () => {
    await add("kept@example.com");
    const invalid: [what: string, verb: "add" | "remove", body: object][] = [
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
    ];
    for (const [what, verb, body] of invalid) {
      expect((await call("POST", `/api/suppressions/batch/${verb}`, body)).status, what).toBe(422);
      expect(await emails(), what).toEqual(["kept@example.com"]);
    }
  });

  test("does not deadlock with others that share addresses in another order", async () => {
    const all = Array.from({ length: 100 }, (_, n) => `r${n}@example.com`);
    const replies = await Promise.all(
      Array.from({ length: batchesAtOnce }, (_, n) =>
        call("POST", `/api/suppressions/batch/${n % 3 === 2 ? "remove" : "add"}`, {
          emails: n % 2 ? all : all.toReversed(),
        }),
      ),
    );
    expect(replies.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  });
});

test("subscribed endpoints get one event for each added and removed entry", async () => {
  const webhook = await call("POST", "/api/webhooks", {
    endpoint: "https://example.com/hook",
    events: ["suppression.added", "suppression.removed"],
  });
  const id = await add("ann@example.com");
  await add("ann@example.com");
  await add("ben@example.com");
  await call("DELETE", `/api/suppressions/${id}`);
  await call("POST", "/api/suppressions/batch/remove", { emails: ["ben@example.com", "ann@example.com"] });
  const path = `/api/webhooks/${webhook.body.id}/events`;
  const events: unknown[] = [];
  for (const row of ((await call("GET", path)).body.data as { id: string }[]).reverse()) {
    const { type, data } = (await call("GET", `${path}/${row.id}`)).body.payload as {
      type: string;
      data: Entry;
    };
    events.push([type, data.email]);
  }
  expect(events).toEqual([
    ["suppression.added", "ann@example.com"],
    ["suppression.added", "ben@example.com"],
    ["suppression.removed", "ann@example.com"],
    ["suppression.removed", "ben@example.com"],
  ]);
});
