import { describe, expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { firstIdAt } from "#db/partitions";
import { newId } from "#server/platform/ids";
import { freshDatabase } from "../support/database/postgres";
import { createGate } from "../support/gate";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { openWorld, type TestTeam } from "../support/world";

type FeedEvent = { id: string; type: string; email_id: string; recipient: string | null; cursor: string };
type Page = { has_more: boolean; next: string; data: FeedEvent[] };

const world = await openWorld();

/** A new team for each test, whose feed no other test writes to, with functions to write and read it. */
async function openFeed() {
  const team: TestTeam = await world.otherTeam();
  const { token } = await team.key();
  const { hot } = world.deps;
  const read = async (query = "") => {
    const reply = await world.api("GET", `/api/email-events${query}`, { token });
    expect(reply.status, reply.text).toBe(200);
    return reply.body as Page;
  };
  /**
   * All events after a cursor, page by page, to the end, once there are `count`: the feed holds the latest
   * events back while an older transaction is open in this database, such as the one that writes the log of
   * these calls.
   */
  const readAll = (query: Record<string, string> = {}, count = 0) =>
    vi.waitFor(
      async () => {
        const events: FeedEvent[] = [];
        for (let after = query.after; ; ) {
          const page = await read(`?${new URLSearchParams({ ...query, ...(after ? { after } : {}) })}`);
          events.push(...page.data);
          after = page.next;
          if (page.has_more) continue;
          expect(events.length).toBeGreaterThanOrEqual(count);
          return { events, next: page.next };
        }
      },
      { timeout: 30_000, interval: 20 },
    );
  const send = async (to = "delivered@backstamp.test") => {
    const body = { from: "ann@backstamp.test", to, subject: "Hello", html: "<p>Hi</p>" };
    return String((await world.api("POST", "/api/emails", { token, body })).body.id);
  };
  /** Writes an event of an email on the given connection or transaction. */
  const write = async (by: typeof hot, emailId: string, id = newId()) => {
    await by`
      insert into email_events (id, team_id, email_id, type) values (${id}, ${team.id}, ${emailId}, 'email.sent')`;
    return id;
  };
  return { team, token, read, readAll, send, write };
}

const idsOf = (events: { id: string }[]) => events.map(({ id }) => id);

test("events are sorted oldest first, each occurs once, and `next` continues where the reader stopped", async () => {
  const { read, readAll, send } = await openFeed();
  const [first, second] = [await send(), await send()];
  await readAll({}, 2);
  const page = await read("?limit=1");
  expect(page).toMatchObject({
    object: "list",
    has_more: true,
    data: [{ object: "event", type: "email.queued", email_id: first, recipient: null, data: {} }],
  });
  const rest = await read(`?after=${page.next}`);
  expect(rest).toMatchObject({ has_more: false, data: [{ email_id: second }] });
  expect((await read(`?after=${page.data[0]?.cursor}`)).data).toEqual(rest.data);
  expect(await read(`?after=${rest.next}`)).toMatchObject({ has_more: false, data: [] });
  const third = await send();
  expect((await readAll({ after: rest.next }, 1)).events).toMatchObject([{ email_id: third }]);
});

test("no event is missed if a transaction commits after later ones", async () => {
  const { read, readAll, send, write } = await openFeed();
  const emailId = await send();
  const { next } = await readAll({}, 1);
  const late = newId();
  const [written, committed] = [createGate(), createGate()];
  const openTransaction = world.hot.begin(async (tx) => {
    await write(tx as unknown as typeof world.hot, emailId, late);
    written.open();
    await committed.passed;
  });
  await written.passed;

  const later = [await write(world.hot, emailId), await write(world.hot, emailId)];
  const meanwhile = await read(`?after=${next}`);
  expect(meanwhile).toMatchObject({ data: [], has_more: false });
  const filtered = await read(`?after=${next}&type=email.bounced`);

  committed.open();
  await openTransaction;
  expect(idsOf((await readAll({ after: meanwhile.next }, 3)).events)).toEqual([late, ...later]);
  expect(idsOf((await readAll({ after: filtered.next }, 3)).events)).toEqual([late, ...later]);
});

test("a transaction that is rolled back blocks no reader", async () => {
  const { readAll, send, write } = await openFeed();
  const emailId = await send();
  const { next } = await readAll({}, 1);
  const failed = world.hot.begin(async (tx) => {
    await write(tx as unknown as typeof world.hot, emailId);
    throw new Error("rolled back");
  });
  await expect(failed).rejects.toThrow("rolled back");
  const id = await write(world.hot, emailId);
  expect(idsOf((await readAll({ after: next }, 1)).events)).toEqual([id]);
});

test("a reader sees every event of many concurrent writers once", async () => {
  const { readAll, send, write } = await openFeed();
  const emailId = await send();
  const written: string[] = [];
  let after = (await readAll({}, 1)).next;
  const writer = async () => {
    for (let n = 0; n < 6; n++)
      await world.hot.begin(async (tx) => {
        const ids = [newId(), newId()];
        for (const id of ids) {
          await write(tx as unknown as typeof world.hot, emailId, id);
          await tx`select pg_sleep(${Math.random() * 0.01})`;
        }
        written.push(...ids);
      });
  };
  let isDone = false;
  const writing = Promise.all(Array.from({ length: 3 }, writer)).finally(() => {
    isDone = true;
  });
  const seen: string[] = [];
  const follow = async () => {
    const { events, next } = await readAll({ after, limit: "7" });
    seen.push(...idsOf(events));
    after = next;
  };
  while (!isDone) await follow();
  await writing;
  seen.push(...idsOf((await readAll({ after }, written.length - seen.length)).events));
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.toSorted()).toEqual(written.toSorted());
});

describe("a filter", () => {
  test("selects by type, email, recipient and time", async () => {
    const { team, readAll, send } = await openFeed();
    const [good, bad] = [await send("delivered@backstamp.test"), await send("bounced@backstamp.test")];
    await deliverDue(world.withTransport(null));
    await readAll({}, 5);
    const typesOf = async (query: Record<string, string>) =>
      (await readAll(query)).events.map(({ type }) => type);
    expect((await typesOf({ email_id: good })).toSorted()).toEqual([
      "email.delivered",
      "email.queued",
      "email.sent",
    ]);
    expect(await typesOf({ type: "email.bounced" })).toEqual(["email.bounced"]);
    expect(await typesOf({ type: "email.bounced,email.delivered", email_id: bad })).toEqual([
      "email.bounced",
    ]);
    expect(await typesOf({ recipient: "Bounced@backstamp.test" })).toEqual(["email.bounced"]);
    expect(await typesOf({ recipient: "nobody@backstamp.test" })).toEqual([]);

    await world.hot`
      update email_events set created_at = created_at - interval '3 days' where team_id = ${team.id} and email_id = ${good}`;
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const emailIdsOf = async (query: Record<string, string>) =>
      new Set((await readAll(query)).events.map(({ email_id }) => email_id));
    const recent = idsOf((await readAll({ email_id: bad })).events);
    expect(idsOf((await readAll({ since: yesterday })).events)).toEqual(recent);
    expect(await emailIdsOf({ until: yesterday })).toEqual(new Set([good]));
    expect(await emailIdsOf({ since: new Date(Date.now() + 86_400_000).toISOString() })).toEqual(new Set());
    expect(await emailIdsOf({ since: "1970-01-01T00:00:00Z" })).toEqual(new Set([good, bad]));

    // An email that was accepted days ago, and bounced now.
    const old = firstIdAt(Date.now() - 3 * 86_400_000);
    await world.hot`
      insert into email_events (id, team_id, email_id, type, created_at, position)
      values (uuid_v7(), ${team.id}, ${old}, 'email.queued', now() - interval '3 days', 1)`;
    await world.hot`
      insert into email_events (id, team_id, email_id, type) values (uuid_v7(), ${team.id}, ${old}, 'email.bounced')`;
    await expect.poll(() => emailIdsOf({ since: yesterday })).toEqual(new Set([bad, old]));
    const late = (await readAll({ since: yesterday })).events;
    expect(idsOf(late).slice(0, -1)).toEqual(recent);
  });

  test("that matches almost nothing returns in bounded steps and misses no event", async () => {
    const { team, read, readAll, send } = await openFeed();
    const emailId = await send();
    await world.hot`
      insert into email_events (id, team_id, email_id, type)
      select uuid_v7(), ${team.id}, ${emailId}, case n when 20500 then 'email.bounced' else 'email.sent' end
      from generate_series(1, 20500) n`;
    await readAll({ type: "email.bounced" }, 1);
    const first = await read("?type=email.bounced");
    expect(first).toMatchObject({ data: [], has_more: true });
    const longAgo = "2020-01-01T00:00:00Z";
    expect(await read(`?until=${longAgo}`)).toMatchObject({ data: [], has_more: false });
  });

  test.each([
    ["limit=0", /1000/],
    ["after=x", /next/],
    ["after=9223372036854775808_018f0000-0000-7000-8000-000000000000", /did not issue this cursor/],
    ["after=999999999999_018f0000-0000-7000-8000-000000000000", /did not issue this cursor/],
    ["before=1_018f0000-0000-7000-8000-000000000000", /Unknown/],
    ["type=email.read", /email\.bounced/],
    ["email_id=1", /id/],
    ["recipient=ann", /@/],
    ["since=yesterday", /ISO 8601/],
  ])("that is invalid is rejected: %s", async (query, message) => {
    const { token } = await world.key();
    expect(await world.api("GET", `/api/email-events?${query}`, { token })).toMatchObject(
      rejected(422, message),
    );
  });
});

test("the feed of one team contains no event of another team, whatever the cursor", async () => {
  const [own, foreign] = [await openFeed(), await openFeed()];
  const mine = await own.send();
  const theirs = await foreign.send();
  const { events } = await foreign.readAll({}, 1);
  expect(events.map(({ email_id }) => email_id)).toEqual([theirs]);
  expect((await own.readAll({}, 1)).events.map(({ email_id }) => email_id)).toEqual([mine]);
  expect((await own.readAll({ after: events[0]?.cursor ?? "" })).events).toEqual([]);
  expect((await own.readAll({ email_id: theirs })).events).toEqual([]);
});

test("after a restore into a new cluster no event is hidden, and new events follow the restored ones", async () => {
  const { read, readAll, send } = await openFeed();
  const before = [await send(), await send()];
  await readAll({}, 2);
  // As if the rows were written by a cluster with a much higher transaction counter.
  await world.hot`update email_events set position = position + 1000000000`;
  const { events, next } = await readAll({}, 2);
  expect(events.map(({ email_id }) => email_id)).toEqual(before);
  const later = await send();
  expect((await readAll({ after: next }, 1)).events).toMatchObject([{ email_id: later }]);
  expect((await readAll()).events.map(({ email_id }) => email_id)).toEqual([...before, later]);
  const again = await read("?limit=2");
  expect((await readAll({ after: again.next }, 1)).events).toMatchObject([{ email_id: later }]);
});

/** Another database of the same cluster, as another service has. */
async function openOtherDatabase() {
  const place = await freshDatabase();
  const { hot, close } = openDatabase(place.url, { connectionsMax: 12 });
  return { hot, close: () => close().then(place.drop) };
}

test("an open transaction in another database of the cluster blocks no reader", async () => {
  const { readAll, send } = await openFeed();
  const other = await openOtherDatabase();
  const [written, finished] = [createGate(), createGate()];
  const openTransaction = other.hot.begin(async (tx) => {
    await tx`insert into teams (id, name) values (${newId()}, 'Elsewhere')`;
    written.open();
    await finished.passed;
  });
  await written.passed;
  const emailId = await send();
  expect((await readAll({}, 1)).events).toMatchObject([{ email_id: emailId }]);
  finished.open();
  await openTransaction;
  await other.close();
});

test("while another database of the cluster writes, no listed event disappears and no place becomes invalid", async () => {
  const { read, readAll, send, write } = await openFeed();
  const emailId = await send();
  await readAll({}, 1);
  const other = await openOtherDatabase();
  let isDone = false;
  const writer = async () => {
    while (!isDone) await other.hot`select pg_current_xact_id(), pg_sleep(${Math.random() * 0.05})`;
  };
  const writing = Promise.all(Array.from({ length: 12 }, writer));
  try {
    for (let n = 1, { next } = await read(); n <= 60; n++) {
      await write(world.hot, emailId);
      ({ next } = await readAll({ after: next }, 1));
      expect((await read("?limit=1000")).data).toHaveLength(n + 1);
      expect(await read(`?after=${next}`)).toMatchObject({ data: [] });
    }
  } finally {
    isDone = true;
    await writing;
    await other.close();
  }
});
