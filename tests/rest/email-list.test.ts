import { beforeAll, describe, expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { rejected } from "../support/rejected";
import { createWorld } from "../support/world";

const EMAIL = {
  from: "Ann <ann@example.org>",
  to: "ben@example.net",
  subject: "Hello",
  html: "<p>Hello</p>",
};

describe("the list", () => {
  const reader = forAllTests(() => createWorld());
  let ids: string[];
  let readerKey: { id: string; token: string };
  const list = (query = "") => reader.api("GET", `/api/emails${query}`, { token: readerKey.token });
  const idsOf = async (query = ""): Promise<string[]> => {
    const { status, body, text } = await list(query);
    expect(status, text).toBe(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  beforeAll(async () => {
    await reader.domain("second.org");
    readerKey = await reader.key();
    ids = [];
    for (let n = 0; n < 25; n++) {
      const { body } = await reader.api("POST", "/api/emails", {
        token: readerKey.token,
        body: {
          ...EMAIL,
          from: n === 3 ? "Zoe@second.org" : EMAIL.from,
          to: n === 4 ? ["ben@example.net", "Rare <Rare.Jürgen@example.net>"] : EMAIL.to,
          subject: n === 5 ? "50% off, for_you \\o/" : `Hello ${n}`,
          tags: n === 6 ? [{ name: "kind", value: "news" }] : [],
        },
      });
      ids.unshift(String(body.id));
    }
  });

  test("returns the newest 20 first and sets `has_more`", async () => {
    const { body } = await list();
    expect(body).toMatchObject({ object: "list", has_more: true });
    expect(await idsOf()).toEqual(ids.slice(0, 20));
  });

  test("contains no bodies", async () => {
    for (const row of (await list()).body.data as object[]) expect(row).not.toHaveProperty("html");
  });

  test.each([
    ["recipient=rare.j%C3%BCrgen%40example.net", [20]],
    ["recipient=RARE.J%C3%9CRGEN@EXAMPLE.net&status=queued", [20]],
    ["sender=ZOE@second.org", [21]],
    ["sender=zoe@second.org&status=queued,failed", [21]],
    ["domain=Second.org", [21]],
    ["subject=50%25%20off", [19]],
    ["subject=for_you", [19]],
    ["subject=HELLO%202", [0, 1, 2, 3, 4, 22]],
    ["tag=kind:news", [18]],
    ["tag=kind:other", []],
    ["status=delivered", []],
    ["since=2099-01-01T00:00:00Z", []],
    ["until=2000-01-01T00:00:00%2B02:00", []],
    ["recipient=rare.j%C3%BCrgen@example.net&sender=zoe@second.org", []],
  ])("filters by %s", async (query, places) => {
    expect(await idsOf(`?limit=100&${query}`)).toEqual(places.map((place) => ids[place]));
  });

  test("lists an email once if the addresses of its recipients differ in their letter case only", async () => {
    const [first = "", second = ""] = ids;
    await reader.hot`
      update deliveries set address = case email_id when ${first} then 'Jo@example.net' else 'JO@example.net' end
      where email_id in (${first}, ${second})`;
    await reader.hot`
      insert into deliveries (id, team_id, email_id, position, kind, address, domain, status)
      select gen_random_uuid(), team_id, email_id, 1, 'to', 'jO@example.net', domain, status
      from deliveries where email_id = ${first}`;
    expect(await idsOf("?recipient=jo@example.net")).toEqual([first, second]);
    expect(await idsOf("?recipient=jo@example.net&limit=1")).toEqual([first]);
    expect(await idsOf(`?recipient=jo@example.net&after=${first}`)).toEqual([second]);
  });

  test("filters by key and by status", async () => {
    expect(await idsOf(`?limit=100&key=${readerKey.id}`)).toEqual(ids);
    expect(await idsOf(`?key=${ids[0]}`)).toEqual([]);
    expect(await idsOf("?limit=100&status=queued")).toEqual(ids);
    expect(await idsOf("?limit=100&since=2000-01-01T00:00:00Z&until=2099-01-01T00:00:00Z")).toEqual(ids);
  });

  test("filters by what recipients did: a click is also an open", async () => {
    const [first = "", second = ""] = ids;
    await reader.hot`
      update emails set engagement = case id when ${first} then 'clicked' else 'opened' end
      where id in (${first}, ${second})`;
    expect(await idsOf("?engagement=opened")).toEqual([first, second]);
    expect(await idsOf("?engagement=clicked")).toEqual([first]);
  });

  test("ignores a parameter without a value", async () => {
    expect(await idsOf("?limit=&after=&status=&subject=")).toHaveLength(20);
  });

  test.each([
    ["limit=0", /`limit`.*1 to 100/],
    ["limit=1e1", /`limit`/],
    ["limit=5&limit=6", /`limit` occurs more than once/],
    ["after=x", /`after`/],
    ["status=sleeping", /`status`.*one of complained/],
    ["engagement=read", /`engagement`.*opened, clicked/],
    ["since=yesterday", /`since`.*ISO 8601/],
    ["since=2026-01-01T00:00:00", /`since`.*zone/],
    ["page=2", /Unknown query parameter `page`\. Known: limit, after/],
    ["__proto__=2", /Unknown query parameter `__proto__`/],
    [`subject=${"x".repeat(201)}`, /`subject`.*200/],
  ])("rejects ?%s", async (query, message) => {
    expect(await list(`?${query}`)).toMatchObject(rejected(422, message));
  });

  test("rejects two cursors", async () => {
    expect(await list(`?after=${ids[0]}&before=${ids[1]}`)).toMatchObject(rejected(422, /`after`.*`before`/));
  });
});
