import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { emailScanMax, scanEmails } from "#server/services/emails/read/list";
import { openReadCounter, type ReadCounter } from "../support/database/buffer-reads";
import { fillSearch, SEARCHED } from "../support/database/fill-search";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

/** More than one search compares. */
const many = 60_000;

const world = forAllTests(() => createWorld());
let counter: ReadCounter;
beforeAll(async () => {
  await fillSearch(world.hot, world.ctx.teamId, (await world.otherTeam()).id, many);
  counter = openReadCounter(world.databaseUrl, world.ctx);
});
afterAll(() => counter.close());

const search = (filter: EmailFilter, cursor = {}) =>
  counter.countReads((ctx) => scanEmails(ctx, { limit: 25, ...filter, ...cursor }));
const numberOf = (email?: { subject: string }) => Number(email?.subject.replace(/\D+/g, ""));

test.each<[string, EmailFilter, { first: number; count: number }]>([
  ["a common word", { words: "order" }, { first: many, count: 25 }],
  ["the beginning of a common word", { subject: "ord" }, { first: many, count: 25 }],
  ["a recipient in another letter case", { recipient: "RARE@rare.example" }, { first: 17, count: 1 }],
  ["an address", { address: "RARE@rare.example" }, { first: 17, count: 1 }],
  ["the address of a sender", { address: "ANN@sender.example" }, { first: 17, count: 1 }],
  ["a common sender", { address: "ann@bench.example" }, { first: many, count: 25 }],
  ["a domain", { any_domain: "bench.example" }, { first: many, count: 25 }],
  ["a sender", { sender: "ANN@sender.example" }, { first: 17, count: 1 }],
  [
    "a sender beside a status",
    { sender: "ann@sender.example", status: ["delivered"] },
    { first: 17, count: 1 },
  ],
  ["a common tag", { tag: { name: "kind" } }, { first: many, count: 25 }],
  ["a common key", { key: SEARCHED.commonKey }, { first: many, count: 25 }],
])("a search for %s reads few emails", async (_, filter, { first, count }) => {
  const { result, rows, seqRows } = await search(filter);
  expect(result).toMatchObject({ hasMore: count === 25, scannedTo: null });
  expect(result.rows).toHaveLength(count);
  expect(numberOf(result.rows[0])).toBe(first);
  expect(rows).toBeLessThan(300);
  expect(seqRows).toBe(0);
});

test.each<[string, EmailFilter]>([
  ["a rare word", { words: "zebra" }],
  ["two common words that few have both", { words: "open paid" }],
  ["a recipient's domain", { recipient_domain: "rare.example" }],
  ["a sender's domain", { domain: "sender.example" }],
  ["a rare tag", { tag: { name: "kind", value: "rare" } }],
  ["a rare key", { key: SEARCHED.rareKey }],
  ["a status and a rare word", { status: ["delivered", "bounced"], words: "zebra" }],
])(
  "a search for %s compares a bounded number of emails, and continues with the next ones",
  async (_, filter) => {
    // Of each email the row and the place in an index, and for a recipient's domain its delivery.
    const readMax = 4 * emailScanMax;
    const { result, rows, seqRows } = await search(filter);
    expect(rows + seqRows).toBeLessThan(readMax);
    expect(result.hasMore).toBe(false);
    expect(result.scannedTo).not.toBeNull();
    const next = await search(filter, { after: result.scannedTo });
    expect(next.rows + next.seqRows).toBeLessThan(readMax);
    expect(next.result.rows.map(numberOf)).toContain(17);
    expect(next.result.scannedTo).toBeNull();
  },
);

test("words are found further back and in the other direction", async () => {
  const first = await search({ words: "newsletter" });
  expect(numberOf(first.result.rows[0])).toBe(many / 2 - 1);
  const second = await search({ words: "newsletter" }, { after: first.result.rows.at(-1)?.id });
  expect(numberOf(second.result.rows[0])).toBe(many / 2 - 26);
  const back = await search({ words: "newsletter" }, { before: second.result.rows[0]?.id });
  expect(back.result.rows.map(numberOf)).toEqual(first.result.rows.map(numberOf));
});
