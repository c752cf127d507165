import { afterAll, beforeAll, expect, test } from "vitest";
import { writeMissingTerms } from "#server/delivery/housekeeping/search-terms";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { scanEmails } from "#server/services/emails/read/list";
import { openReadCounter, type ReadCounter } from "../support/database/buffer-reads";
import { fillSearch, SEARCHED } from "../support/database/fill-search";
import { createWorld, type World } from "../support/world";

/** Enough that reading all of them is different from searching them. */
const many = 30_000;

let world: World;
let counter: ReadCounter;
beforeAll(async () => {
  world = await createWorld();
  const other = await world.otherTeam();
  for (const name of ["bench.example", "sender.example"]) await world.domain(name);
  await fillSearch(world.hot, world.ctx.teamId, other.id, many);
  counter = openReadCounter(world.databaseUrl, world.ctx);
});
afterAll(async () => {
  await counter.close();
  await world.close();
});

const search = (filter: EmailFilter, cursor = {}) =>
  counter.countReads((ctx) => scanEmails(ctx, { limit: 25, ...filter, ...cursor }));

test.each<[string, EmailFilter, { first: string; count: number }]>([
  ["a rare word", { words: "zebra" }, { first: "17", count: 1 }],
  ["a common word", { words: "order" }, { first: "30000", count: 25 }],
  ["the beginning of a common word", { subject: "ord" }, { first: "30000", count: 25 }],
  ["a word of the older half", { words: "newsletter" }, { first: "14999", count: 25 }],
  ["two words of the older half", { subject: "paid newsletter" }, { first: "14998", count: 25 }],
  ["two common words that few have both", { words: "open paid" }, { first: "17", count: 1 }],
  ["a number", { words: "order 12345" }, { first: "12345", count: 1 }],
  ["no email", { words: "order nothing" }, { first: "", count: 0 }],
  ["a recipient in another letter case", { recipient: "RARE@rare.example" }, { first: "17", count: 1 }],
  ["an address", { address: "RARE@rare.example" }, { first: "17", count: 1 }],
  ["an address of the team", { address: "ANN@sender.example" }, { first: "17", count: 1 }],
  ["a domain of the team", { address: "@bench.example" }, { first: "30000", count: 25 }],
  ["a recipient's domain", { recipientDomain: "rare.example" }, { first: "17", count: 1 }],
  ["a sender", { sender: "ANN@sender.example" }, { first: "17", count: 1 }],
  ["a sender's domain", { domain: "sender.example" }, { first: "17", count: 1 }],
  ["a rare tag", { tag: { name: "kind", value: "rare" } }, { first: "17", count: 1 }],
  ["a common tag", { tag: { name: "kind" } }, { first: "30000", count: 25 }],
  ["a rare key", { apiKeyId: SEARCHED.rareKey }, { first: "17", count: 1 }],
])("a search for %s reads a small part of the emails", async (_, filter, { first, count }) => {
  const { result, rows, buffers, seqRows } = await search(filter);
  expect(result).toMatchObject({ hasMore: count === 25, scannedTo: null });
  expect(result.rows).toHaveLength(count);
  expect(result.rows[0]?.subject.replace(/\D+/g, "") ?? "").toBe(first);
  // The newest 2,000 emails, the emails of one shortest period, and those that match.
  expect(rows).toBeLessThan(3_500);
  expect(rows).toBeGreaterThanOrEqual(count);
  expect(buffers).toBeLessThan(4_000);
  // For the recipients of the newest 2,000 emails, a whole small table costs less than its index.
  if (!filter.recipientDomain && !filter.address?.startsWith("@")) expect(seqRows).toBeLessThan(500);
});

test("an email whose terms are not written yet is found", async () => {
  const note = world.hot`insert into email_terms_pending (team_id, email_id)
    select team_id, id from emails where subject like '%zebra%'`;
  expect((await note).count).toBe(1);
  await world.hot`delete from email_terms t using email_terms_pending p where t.email_id = p.email_id`;
  expect((await search({ words: "zebra" })).result.rows).toHaveLength(1);
  await writeMissingTerms(world.withTransport(), () => true);
  const { result, rows } = await search({ words: "zebra" });
  expect(result.rows).toHaveLength(1);
  expect(rows).toBeLessThan(3_500);
});

test("a new email whose terms are not written yet is found, beside older ones", async () => {
  const { count } = await world.hot`
    with new as (select team_id, id from emails where subject like 'Your order 29990 %'), noted as (
      insert into email_terms_pending (team_id, email_id) select team_id, id from new
    )
    delete from email_terms t using new where t.email_id = new.id`;
  expect(count).toBe(2);
  const { result } = await search({ words: "29990" });
  expect(result.rows.map(({ subject }) => subject)).toEqual(["Your order 29990 paid"]);
  const subjects = async (filter: EmailFilter, cursor = {}) =>
    (await search(filter, cursor)).result.rows.map(({ subject }) => subject);
  const all = await subjects({ words: "order 2999" });
  expect(all).toHaveLength(11);
  expect(all.slice(0, 2)).toEqual(["Your order 29999 open", "Your order 29998 paid"]);
  expect(all.at(-1)).toBe("Newsletter order 2999 open");
  await writeMissingTerms(world.withTransport(), () => true);
  expect(await subjects({ words: "order 2999" })).toEqual(all);
});

test("the table is never read as a whole, also further back and in the other direction", async () => {
  const first = await search({ words: "newsletter" });
  const second = await search({ words: "newsletter" }, { after: first.result.rows.at(-1)?.id });
  expect(second.result.rows[0]?.subject).toMatch(/^Newsletter order 14974 /);
  const oldest = second.result.rows.at(-1)?.id;
  const back = await search({ words: "newsletter" }, { before: oldest });
  expect(back.result.rows.at(-1)?.subject).toMatch(/^Newsletter order 14951 /);
  const beforeOld = await search({ words: "paid your" }, { before: oldest });
  expect(beforeOld.result.rows.at(-1)?.subject).toBe("Your order 15000 paid");
  for (const { rows, seqRows } of [first, second, back, beforeOld]) {
    expect(rows).toBeLessThan(3_500);
    expect(seqRows).toBe(0);
  }
});
