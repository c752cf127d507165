import { beforeEach, describe, expect, test } from "vitest";
import { parseSearch } from "#server/trpc/emails/input";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let ann: RoleTeam;
let nth = 0;
const console = await openConsole();
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
});

const callerOf = async (party: RoleTeam) => console.callerOf(await party.cookies("member"));
type ListInput = Omit<Parameters<Awaited<ReturnType<typeof callerOf>>["emails"]["list"]>[0], "team">;
const list = async (input: ListInput) => (await callerOf(ann)).emails.list({ team: ann.teamId, ...input });
const send = async (mail: Parameters<Console["world"]["send"]>[0] = {}) =>
  (
    await console.world.send(
      { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], ...mail },
      ann.ctx,
    )
  ).id;
const idsOf = async (input: ListInput) => (await list(input)).rows.map(({ id }) => id);

describe("the search field", () => {
  const id = "01900000-0000-7000-8000-000000000001";
  test.each([
    [id, { id }],
    [`<${id}@example.org>`, { id }],
    [id.toUpperCase(), { id }],
    ["ann@example.net", { address: "ann@example.net" }],
    ["to:Ann@EXAMPLE.net", { recipient: "Ann@example.net" }],
    ["from:shop@example.org", { sender: "shop@example.org" }],
    ["from:@Example.org", { domain: "example.org" }],
    ["to:@Example.net", { recipient_domain: "example.net" }],
    ["@Example.net from:@", { any_domain: "example.net", words: "from:@" }],
    ["tag:kind=receipt", { tag: { name: "kind", value: "receipt" } }],
    ["tag:kind:receipt", { tag: { name: "kind", value: "receipt" } }],
    ["tag:kind", { tag: { name: "kind" } }],
    ["your order 10492", { words: "your order 10492" }],
    [
      "receipt tag:kind=shop ann@example.net",
      { words: "receipt", tag: { name: "kind", value: "shop" }, address: "ann@example.net" },
    ],
    ["ann@", { words: "ann@" }],
    ["tag:a=b tag:c=d", { tag: { name: "a", value: "b" }, words: "tag:c=d" }],
    ["a@example.net b@example.net", { address: "a@example.net", words: "b@example.net" }],
    ["to:nobody from:", { words: "to:nobody from:" }],
    ["  ", {}],
  ])("parses %j", (text, filter) => expect(parseSearch(text)).toEqual(filter));
});

describe("the email list", () => {
  test("counts the suppressed ones of several recipients", async () => {
    const one = await send({ to: ["suppressed@backstamp.test"] });
    const some = await send({ to: ["delivered@backstamp.test", "suppressed@backstamp.test"] });
    const none = await send({ to: ["delivered@backstamp.test", "delivered+two@backstamp.test"] });
    await console.deliver();
    const { rows } = await list({});
    expect(rows.map(({ id, suppressed }) => [id, suppressed])).toEqual([
      [none, 0],
      [some, 1],
      [one, 0],
    ]);
    expect(rows[1]?.status).toBe("delivered");
  });

  test("finds an email by id, Message-ID, recipient, part of a recipient, subject and tag", async () => {
    const id = await send({
      to: ["needle@backstamp.test"],
      subject: "Your 50% parcel",
      tags: [{ name: "kind", value: "shop" }],
    });
    await send({ subject: "Another" });
    for (const search of [
      id,
      `<${id}@backstamp.test>`,
      "needle@backstamp.test",
      "needle@",
      "50% PARCEL",
      "parcel your",
      "parc",
      "@backstamp.test parcel",
      "tag:kind=shop",
      "tag:kind",
      "parcel tag:kind=shop needle@backstamp.test",
    ])
      expect(await idsOf({ search }), search).toEqual([id]);
    for (const search of [
      "arcel",
      "parcel missing",
      "%",
      "tag:kind=other",
      "nobody@backstamp.test",
      "parcel tag:other",
    ])
      expect(await idsOf({ search }), search).toEqual([]);
  });

  test("an address finds emails to it and from it, in any letter case and in order", async () => {
    const ids = [
      await send({ sender: "Desk@backstamp.test" }),
      await send({ to: ["desk@backstamp.test"] }),
      await send({ sender: "desk@backstamp.test", to: ["Desk@backstamp.test"] }),
      await send({ sender: "desk@backstamp.test" }),
    ].reverse();
    const [last = "", both = "", to = "", first = ""] = ids;
    const other = await send({ to: ["delivered@backstamp.test"] });
    const search = "DESK@backstamp.test";
    expect(await idsOf({ search })).toEqual(ids);
    expect(await idsOf({ search, after: last })).toEqual([both, to, first]);
    expect(await idsOf({ search, before: first })).toEqual([last, both, to]);
    expect(await idsOf({ search: `to:${search}` })).toEqual([both, to]);
    expect(await idsOf({ search: `from:${search}` })).toEqual([last, both, first]);
    expect(await idsOf({ search: `${search} from:desk@backstamp.test` })).toEqual([both]);
    expect(await idsOf({ search: `${search} to:desk@backstamp.test` })).toEqual([both]);
    expect(await idsOf({ search: "@BACKSTAMP.test" })).toEqual([other, ...ids]);
    const palette = await (await callerOf(ann)).search.everything({ team: ann.teamId, text: search });
    expect(palette.emails.map(({ id }) => id)).toEqual(ids);
  });

  test("filters by a tag, and by what recipients did", async () => {
    const clicked = await send({ tags: [{ name: "kind", value: "shop" }] });
    const opened = await send({ tags: [{ name: "kind", value: "shop" }] });
    await send({ tags: [{ name: "kind", value: "news" }] });
    await console.world.hot`
      update emails set engagement = case id when ${opened} then 'opened' else 'clicked' end
      where id in (${opened}, ${clicked})`;
    expect(await idsOf({ tag: "kind:shop" })).toEqual([opened, clicked]);
    expect(await idsOf({ engagement: "opened" })).toEqual([opened, clicked]);
    expect(await idsOf({ engagement: "clicked", tag: "kind" })).toEqual([clicked]);
  });

  test("keeps a page unchanged while new email is accepted, and counts new email separately", async () => {
    const first = await send({ subject: "First" });
    const second = await send({ subject: "Second" });
    const third = await send({ subject: "Third" });
    expect(await idsOf({ upTo: second })).toEqual([second, first]);
    expect(await idsOf({ before: second })).toEqual([third]);
    await console.world.hot`update emails set created_at = now() - interval '2 h' where id = ${first}`;
    expect(await idsOf({ within: "1h" })).toEqual([third, second]);
  });
});
