import { afterEach, beforeEach, expect, test } from "vitest";
import { writeMissingTerms } from "#server/delivery/housekeeping/search-terms";
import { newId } from "#server/platform/ids";
import { createWorld, type World } from "../support/world";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

/** How many emails have a term of this name in the period of their time. */
async function countWith(name: string, teamId = world.ctx.teamId): Promise<number> {
  const [row] = await world.hot<{ count: number }[]>`
    select count(*)::int as count from email_terms
    where terms @> array[search_term(search_scope(${teamId},
      ('x' || left(replace(email_id::text, '-', ''), 12))::bit(48)::bigint >> 30), ${name})]`;
  return row?.count ?? 0;
}
const missing = (shouldContinue = () => true) => writeMissingTerms(world.withTransport(), shouldContinue);

/** As release 0.2.0 accepts an email: without a word of search terms. */
const insertEmail = (id: string, subject: string) => world.hot`
  insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
  values (${id}, ${world.ctx.teamId}, 'Shop <Shop@example.org>', 'Shop@example.org', 'example.org',
    '["Ann Smith <ann.smith@mail.example.net>"]', ${subject}, ${`${id}@example.org`}, 'delivered')`;

test("each accepted email gets its search terms, also one that an older release accepts, but not while it is accepted", async () => {
  await insertEmail(newId(), "Your invoice 2026-1187 is ready");
  await world.send({
    to: ["ann@example.net"],
    subject: "Invoices",
    tags: [{ name: "kind", value: "receipt" }],
  });
  expect(await world.hot`select from email_terms`).toHaveLength(0);
  await missing();
  expect(await world.hot`select from email_terms_pending`).toHaveLength(0);
  for (const [name, count] of [
    ["inv", 2],
    ["invoice", 2],
    ["2026", 1],
    ["1187", 1],
    ["read", 1],
    ["smit", 1],
    ["d:mail.example.net", 1],
    ["d:example.net", 1],
    ["f:shop@example.org", 1],
    ["e:example.org", 2],
    ["t:kind", 1],
    ["t:kind=receipt", 1],
    ["is", 0],
    ["other", 0],
  ] as const)
    expect(await countWith(name), name).toBe(count);
  expect(await countWith("invoice", newId())).toBe(0);
});

test("after each step the index has no pending entries, which every read of a search would read, too", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => world.send({ subject: `Invoice ${n}` })));
  await world.hot`
    insert into email_terms_backlog (team_id, next_id) values (${world.ctx.teamId}, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    on conflict (team_id) do update set next_id = excluded.next_id`;
  await missing();
  const [pending] = await world.hot<{ pages: number }[]>`
    select sum(gin_clean_pending_list(relid))::int as pages from pg_partition_tree('email_terms_idx') where isleaf`;
  expect(pending?.pages).toBe(0);
  expect(await countWith("invoice")).toBe(20);
});

test("terms follow a changed text, stay at a change of the status, and go with their email", async () => {
  const { id } = await world.send({ subject: "Dear Ann" });
  await missing();
  const version = async () =>
    (await world.hot<{ at: string }[]>`select xmin::text as at from email_terms where email_id = ${id}`)[0]
      ?.at;
  const written = await version();
  await world.hot`update emails set status = 'delivered', engagement = 'opened' where id = ${id}`;
  expect(await version()).toBe(written);
  await world.hot`update emails set subject = 'Erased' where id = ${id}`;
  expect(await countWith("dear")).toBe(0);
  await missing();
  expect([await countWith("dear"), await countWith("eras")]).toEqual([0, 1]);
  await world.hot`update emails set subject = 'Erased again' where id = ${id}`;
  await world.hot`delete from emails where id = ${id}`;
  await missing();
  expect(await version()).toBeUndefined();
});

test("an email that another transaction locks is not waited for, and gets its terms later", async () => {
  const locked = await world.send({ subject: "Dear Ann" });
  await world.send({ subject: "Dear Ben" });
  await world.hot.begin(async (tx) => {
    await tx`select from emails where id = ${locked.id} for update`;
    await missing();
    expect(await countWith("dear")).toBe(1);
    expect(await world.hot`select email_id as id from email_terms_pending`).toEqual([{ id: locked.id }]);
  });
  await missing();
  expect(await countWith("dear")).toBe(2);
  expect(await world.hot`select from email_terms_pending`).toHaveLength(0);
});

test("the terms of a text that is being changed wait for the change", async () => {
  const { id } = await world.send({ subject: "Dear Ann" });
  await world.hot.begin(async (tx) => {
    await tx`update emails set subject = 'Erased' where id = ${id}`;
    await missing();
    expect(await world.hot`select from email_terms`).toHaveLength(0);
  });
  await missing();
  expect([await countWith("dear"), await countWith("eras")]).toEqual([0, 1]);
});

test("housekeeping writes the terms of emails that are older than their table, the newest first", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push(newId());
    await insertEmail(ids[n] ?? "", `Old ${n}`);
  }
  await world.hot`delete from email_terms_pending`;
  await world.hot`
    insert into email_terms_backlog (team_id, next_id) values (${world.ctx.teamId}, ${ids[2] ?? ""})`;
  let steps = 0;
  // One step looks for new emails, the other one writes the terms of the older ones.
  await missing(() => steps++ < 2);
  const found = await world.hot<{ id: string }[]>`select email_id as id from email_terms order by email_id`;
  expect(found.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect(await world.hot`select from email_terms_backlog where next_id = ${ids[0] ?? ""}`).toHaveLength(1);
  await missing();
  expect(await world.hot`select from email_terms_backlog`).toHaveLength(0);
  expect(await world.hot`select from email_terms`).toHaveLength(2);
});
