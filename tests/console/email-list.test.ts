import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { emailScanMax, listEmails } from "#server/services/emails/read/list";
import { readSearch } from "#server/trpc/emails/input";
import { type Console, cookiesOf, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let console: Console;
let ann: RoleTeam;
let nth = 0;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
});

const cookies = async (party: RoleTeam) => cookiesOf((await console.session(party.userIds.member)).id);
const callerOf = async (party: RoleTeam) => console.callerOf(await cookies(party));
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
    ["ann@example.net", { recipient: "ann@example.net" }],
    ["to:Ann@EXAMPLE.net", { recipient: "Ann@example.net" }],
    ["from:shop@example.org", { sender: "shop@example.org" }],
    ["from:@Example.org", { domain: "example.org" }],
    ["to:@Example.net", { recipientDomain: "example.net" }],
    ["@example.net from:@", { recipientDomain: "example.net", words: "from:@" }],
    ["tag:kind=receipt", { tag: { name: "kind", value: "receipt" } }],
    ["tag:kind:receipt", { tag: { name: "kind", value: "receipt" } }],
    ["tag:kind", { tag: { name: "kind" } }],
    ["your order 10492", { words: "your order 10492" }],
    [
      "receipt tag:kind=shop ann@example.net",
      { words: "receipt", tag: { name: "kind", value: "shop" }, recipient: "ann@example.net" },
    ],
    ["ann@", { words: "ann@" }],
    ["tag:a=b tag:c=d", { tag: { name: "a", value: "b" }, words: "tag:c=d" }],
    ["a@example.net b@example.net", { recipient: "a@example.net", words: "b@example.net" }],
    ["to:nobody from:", { words: "to:nobody from:" }],
    ["  ", {}],
  ])("parses %j", (text, filter) => expect(readSearch(text)).toEqual(filter));
});

describe("the email list", () => {
  test("counts the suppressed ones of several recipients", async () => {
    const one = await send({ to: ["suppressed@backstamp.test"] });
    const some = await send({ to: ["delivered@backstamp.test", "suppressed@backstamp.test"] });
    const none = await send({ to: ["delivered@backstamp.test", "delivered+two@backstamp.test"] });
    await tick(console.world.withTransport(), { budgetMs: 10_000 });
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

  test("finds the words of a subject in any order, and with others between them", async () => {
    const id = await send({ subject: "Your invoice 2026-1187 is ready" });
    await send({ subject: "Your invoice 2026-1188 is paid" });
    for (const search of ["invoice ready", "ready invoice", "2026-1187", "your 1187"])
      expect(await idsOf({ search }), search).toEqual([id]);
    expect(await idsOf({ search: "invoice missing" })).toEqual([]);
  });

  test("keeps a page unchanged while new email is accepted, and counts new email separately", async () => {
    const first = await send({ subject: "First" });
    const second = await send({ subject: "Second" });
    const third = await send({ subject: "Third" });
    expect(await idsOf({ upTo: second })).toEqual([second, first]);
    expect(await idsOf({ before: second })).toEqual([third]);
  });

  test("filters by a time range, also one that ends now", async () => {
    const id = await send();
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    expect(await idsOf({ within: "1h" })).toEqual([id]);
    expect(await idsOf({ since: at(-60_000), until: at(60_000) })).toEqual([id]);
    expect(await idsOf({ since: at(60_000) })).toEqual([]);
    expect(await idsOf({ until: at(-60_000) })).toEqual([]);
  });

  test("finds the newest and the oldest emails with a word, in both directions, among many others", async () => {
    await insertOld(3_000);
    for (const search of ["rare", "from:@rare.org", "tag:kind=rare", "rar usual"]) {
      const page = await list({ search });
      expect(page.rows.map(({ subject }) => subject)).toEqual(
        search.includes("usual") ? [] : ["Rare 3", "Rare 2", "Rare 1"],
      );
      expect(page).toMatchObject({ hasMore: false, scannedTo: null });
    }
    const whole = await listEmails(ann.ctx, { subject: "rare", limit: 2 });
    expect(whole.rows.map(({ subject }) => subject)).toEqual(["Rare 3", "Rare 2"]);
    expect(whole.hasMore).toBe(true);
    const rest = await listEmails(ann.ctx, { subject: "rare", limit: 2, after: whole.rows[1]?.id ?? "" });
    expect(rest).toMatchObject({ rows: [{ subject: "Rare 1" }], hasMore: false });
    const back = await listEmails(ann.ctx, { subject: "rare", limit: 1, before: rest.rows[0]?.id ?? "" });
    expect(back).toMatchObject({ rows: [{ subject: "Rare 2" }], hasMore: true });
    const none = await listEmails(ann.ctx, { subject: "rare", limit: 5, before: whole.rows[0]?.id ?? "" });
    expect(none).toEqual({ rows: [], hasMore: false });
    const common = await listEmails(ann.ctx, { subject: "usual", limit: 2, before: rest.rows[0]?.id ?? "" });
    expect(common.rows.map(({ id }) => id.slice(-1))).toEqual(["5", "4"]);
  });

  test("stops a search of emails without search terms after a number of them, and continues from there", async () => {
    await insertOld(emailScanMax + 10, { hasTerms: false });
    await console.world.hot`
      insert into email_terms_backlog (team_id, next_id) values (${ann.teamId}, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`;
    for (const filter of [{ search: "rare" }, { domain: "rare.org" }]) {
      const page = await list(filter);
      expect(page.rows).toEqual([]);
      expect(page.scannedTo).toMatchObject({ id: expect.any(String), at: expect.any(String) });
      const next = await list({ ...filter, after: page.scannedTo?.id });
      expect(next.rows.map(({ subject }) => subject)).toEqual(["Rare 3", "Rare 2", "Rare 1"]);
      expect(next).toMatchObject({ hasMore: false, scannedTo: null });
    }
    const whole = await listEmails(ann.ctx, { subject: "rare", limit: 2 });
    expect(whole.rows.map(({ subject }) => subject)).toEqual(["Rare 3", "Rare 2"]);
  });
});

/** Old emails of the team, 4 s apart. The three oldest have a word, a domain and a tag that no other has. */
const insertOld = (count: number, { hasTerms = true } = {}) =>
  console.world.hot.begin(async (tx) => {
    if (!hasTerms) await tx`set local session_replication_role = replica`;
    await tx`
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, tags, message_id, status, created_at)
      select (lpad(to_hex(1700000000000 + n * 4096), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, ${ann.teamId},
        'a@example.org', 'a@example.org', case when n <= 3 then 'rare.org' else 'example.org' end, '["b@example.net"]',
        case when n <= 3 then 'Rare ' || n else 'Usual' end,
        case when n <= 3 then '[{"name": "kind", "value": "rare"}]'::jsonb else '[]' end, n || '@example.org', 'delivered',
        now() - interval '1 year'
      from generate_series(1, ${count}::int) n`;
  });
