import { afterAll, beforeAll, expect, test } from "vitest";
import { countRetryable } from "#server/services/emails/change/retry";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { emailScanMax, listEmails, scanEmails } from "#server/services/emails/read/list";
import { openReadCounter, type ReadCounter } from "../support/database/buffer-reads";
import { queueMany } from "../support/database/queue-many";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
let counter: ReadCounter;
beforeAll(async () => {
  await queueMany(world.hot, {
    teamId: world.ctx.teamId,
    domain: "example.org",
    count: 5_000,
    to: "example.net",
  });
  await world.hot`
    update emails e set status = case when o.n % 2 = 0 then 'failed' else 'bounced' end
    from (select id, row_number() over (order by id) as n from emails) as o where o.id = e.id and o.n <= 60`;
  await world.hot.unsafe("vacuum analyze emails");
  counter = openReadCounter(world.databaseUrl, world.ctx);
});
afterAll(() => counter.close());

test("a page of several statuses reads as many emails as a page of each", async () => {
  const statuses = ["bounced", "failed"] as const;
  const { result, rows, seqRows } = await counter.countReads((ctx) =>
    scanEmails(ctx, { status: [...statuses], limit: 25 }),
  );
  expect(result).toMatchObject({ hasMore: true, scannedTo: null });
  expect(result.rows.map(({ status }) => status).slice(0, 4)).toEqual([
    "failed",
    "bounced",
    "failed",
    "bounced",
  ]);
  expect(rows).toBeGreaterThanOrEqual(26);
  expect(rows).toBeLessThan(60);
  expect(seqRows).toBe(0);
});

test("a time range finds its emails behind a page of newer ones, whose ids can be of the same time", async () => {
  await world.hot`update emails set created_at = now() - interval '10 minutes' where status <> 'queued'`;
  const until = new Date(Date.now() - 5 * 60_000);
  for (const status of [undefined, ["bounced" as const], ["bounced" as const, "failed" as const]]) {
    const filter = { until, ...(status && { status }) };
    const { result, rows } = await counter.countReads((ctx) => scanEmails(ctx, { ...filter, limit: 25 }));
    expect(result).toMatchObject({ hasMore: true, scannedTo: null });
    expect(result.rows).toHaveLength(25);
    expect(result.rows.some(({ status }) => status === "queued")).toBe(false);
    // Of several statuses, each is read up to the end of the page only.
    if (status) expect(rows).toBeLessThan(120);
  }
});

test("the number of emails to retry is counted among the newest ones, of more than are read", async () => {
  const count = 160_000;
  await world.hot.begin(async (tx) => {
    // That of the product is for its own statements.
    await tx`set local statement_timeout = 0`;
    await tx`
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status, created_at)
      select uuid_v7(), ${world.ctx.teamId}, 'a', 'a', 'example.org', '[]', case when n % 40000 = 0 then 'no 7' else 'x' end,
        n, 'failed', now()
      from generate_series(1, ${count}::int) as n`;
  });
  await world.hot.unsafe("vacuum analyze emails");
  const countAll = (filter: EmailFilter) =>
    counter.countReads((ctx) => countRetryable(ctx, { status: ["failed"], ...filter }, false, 1_000));
  const { result, rows, seqRows } = await countAll({ words: "7" });
  expect(result).toEqual({ count: 2, hasMore: false, isPartial: true });
  // The scan, and the search for its end, by an index or not: that depends on the sample of the statistics.
  expect(rows + seqRows).toBeLessThanOrEqual(2 * emailScanMax + 10);
  const all = await countAll({});
  expect(all.result).toEqual({ count: 1_000, hasMore: true, isPartial: false });
  expect(all.rows).toBeLessThan(1_100);
  const { rows: found } = await listEmails(world.ctx, { status: ["failed"], words: "7", limit: 100 });
  expect(found).toHaveLength(4);
});
