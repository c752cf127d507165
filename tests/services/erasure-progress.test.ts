import { expect, test } from "vitest";
import { takeBytes } from "#server/services/erasures/emails";
import { runErasures } from "#server/services/erasures/run";
import { ANN, createErasureWorld, ERASED } from "../support/erasure-world";
import { forEachTest } from "../support/fixtures";

const world = forEachTest(createErasureWorld);
/** Continues the erasures after this interval. */
const runAfter = async (interval: string) => {
  await world.elapse(interval);
  await world.runErasures();
};

const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const minutesToNext = async () => {
  const [row] = await world.hot<{ minutes: number }[]>`
    select extract(epoch from next_at - now())::float8 / 60 as minutes from erasures`;
  return row?.minutes ?? 0;
};

test("with suppression, nothing is sent to the address from the request on, before a worker has begun", async () => {
  const other = await world.otherTeam();
  await world.requestErasure({ suppresses: true });
  const id = await world.sendMail({ to: [ANN, "ben@example.net"] });
  await world.deliver();
  expect(await world.statuses(id)).toEqual([`${ERASED} suppressed`, "ben@example.net delivered"]);
  await world.runErasures();
  await runAfter("2 min");
  expect(await world.erasure()).toMatchObject({ status: "done" });
  const { data } = await world.ok("GET", "/api/suppressions?limit=10");
  expect(data).toMatchObject([{ email: expect.stringMatching(/^erased-/), origin: "manual" }]);
  expect(await world.hot`select from suppressions where team_id = ${other.id}`).toHaveLength(0);
});

test("an address that bounced and is suppressed with the erasure has one entry, with its cause", async () => {
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.hot`update suppressions set origin = 'bounce'`;
  await world.erase({ suppresses: true });
  const { data } = await world.ok("GET", "/api/suppressions?limit=10");
  expect(data).toMatchObject([{ email: expect.stringMatching(/^erased-/), origin: "bounce" }]);
});

test("an address that had unsubscribed and is suppressed with the erasure gets no ordinary email either", async () => {
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.hot`update suppressions set lists_only = true`;
  await world.erase({ suppresses: true });
  const id = await world.sendMail({ to: [ANN, "ben@example.net"] });
  await world.deliver();
  expect(await world.statuses(id)).toEqual([
    expect.stringMatching(/ suppressed$/),
    "ben@example.net delivered",
  ]);
});

test("an erasure that waits for weeks reads only what waits and what is new, at longer and longer intervals", async () => {
  const mail = { to: "ben@example.net", subject: `About ${ANN}`, scheduled_at: later(30) };
  const id = await world.sendMail(mail);
  await world.requestErasure();
  const intervals: number[] = [];
  for (const pass of [1, 2, 7, 8]) {
    await world.hot`update erasures set pass = ${pass}`;
    await world.runErasures();
    intervals.push(Math.round(await minutesToNext()));
    await world.elapse("6 hours");
  }
  expect(intervals).toEqual([5, 10, 320, 360]);
  expect(await world.erasure()).toMatchObject({ status: "running", waiting: 1 });
  // More passes than fit into a smallint. What is older than the last pass is not read again.
  await world.hot`update erasures set pass = 40000`;
  await world.hot`
    update erasures set pass_started_at = now() + interval '1 hour', lease_token = null, next_at = now() - interval '1 minute'`;
  await world.runErasures();
  const [row] = await world.hot<{ isPast: boolean }[]>`select floor > ${id}::uuid as "isPast" from erasures`;
  expect(row?.isPast).toBe(true);
  await world.elapse("30 days");
  await world.deliver();
  await world.runErasures();
  expect(await world.erasure()).toMatchObject({ status: "done", waiting: 0, pass: 40_001 });
  expect(await world.email(id)).toMatchObject({ subject: `About ${ERASED}` });
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("emails that wait beyond the number that is listed are found again", async () => {
  const mail = { to: "ben@example.net", subject: `About ${ANN}`, scheduled_at: later(1) };
  const id = await world.sendMail(mail);
  await world.requestErasure();
  await world.hot`
    update erasures set waiting = 1000, waiting_ids = array(select gen_random_uuid() from generate_series(1, 1000))`;
  await world.runErasures();
  expect(await world.erasure()).toMatchObject({ waiting: 1_001 });
  await runAfter("5 min");
  expect(await world.erasure()).toMatchObject({ status: "running", waiting: 1 });
  await world.elapse("1 day");
  await world.deliver();
  await world.runErasures();
  expect(await world.erasure()).toMatchObject({ status: "done" });
  expect(await world.email(id)).toMatchObject({ subject: `About ${ERASED}` });
});

test("an idempotency key with the address works until it expires, and is then erased", async () => {
  const send = () =>
    world.api("POST", "/api/emails", {
      token: world.token,
      headers: { "idempotency-key": `welcome/${ANN}` },
      body: { from: "sales@example.org", to: "ben@example.net", subject: "Hi", html: "<p>Hi</p>" },
    });
  const first = await send();
  expect(first.status).toBe(200);
  await world.deliver();
  await world.erase();
  expect(await world.erasure()).toMatchObject({ status: "running", waiting: 0, waitingKeys: 1 });
  const again = await send();
  expect(again.body).toEqual(first.body);
  expect(await world.hot`select from emails`).toHaveLength(1);
  await runAfter("24 hours");
  expect(await world.erasure()).toMatchObject({
    status: "done",
    waitingKeys: 0,
    counts: { idempotency_keys: 1 },
  });
  expect(await world.hot`select from idempotency_keys`).toHaveLength(0);
  expect(await world.hot`select from emails`).toHaveLength(1);
});

test("the copy of an idempotency key is erased in an email to others, whose content stays, and with the content of an email to the address", async () => {
  const key = `welcome/${ANN}`;
  const send = (to: string, route: string, body: unknown) =>
    world.api("POST", route, {
      token: world.token,
      headers: { "idempotency-key": key },
      body: body ?? { from: "sales@example.org", to, subject: "Hi", html: "<p>Hi</p>" },
    });
  const mail = { from: "sales@example.org", subject: "Hi", html: "<p>Hi</p>" };
  expect(await send("ben@example.net", "/api/emails", null)).toMatchObject({ status: 200 });
  const batch = [ANN, "joe@example.net"].map((to) => ({ ...mail, to }));
  expect(await send("", "/api/emails/batch", batch)).toMatchObject({ status: 200 });
  await world.hot`update email_bodies set raw = ${Buffer.from("Hi")}
    where email_id = (select id from emails where "to"::text like '%joe@%')`;
  await world.deliver();
  await world.erase();
  const rows = await world.hot<{ html: string; key: string; raw: Buffer | null }[]>`
    select html, idempotency_key as key, raw from email_bodies order by email_id`;
  expect(rows.map(({ html, key: stored, raw }) => [html, stored, raw?.toString() ?? null])).toEqual([
    ["<p>Hi</p>", `welcome/${ERASED}`, null],
    ["<p>Hi</p>", `welcome/${ERASED}`, "Hi"],
  ]);
});

test("a step that takes too long is repeated with fewer rows, and the fault is shown until then", async () => {
  const other = "bea@example.net";
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push(await world.sendMail({ to: ANN }));
  const others = await world.sendMail({ to: other });
  await world.deliver();
  // As if the database canceled each transaction that erases more than two emails.
  await world.hot.unsafe(`
    create function cancel_long() returns trigger language plpgsql as $$ begin
      if (select count(*) from emails where subject = '(erased)' and xmin = pg_current_xact_id()::xid) > 2 then
        raise exception 'canceled for ${ANN}' using errcode = '57014'; end if;
      return null; end $$;
    create trigger cancel_long after update on emails for each statement execute function cancel_long()`);
  await world.requestErasure();
  await world.requestErasure({ address: other });
  await world.runErasures();
  const shown = async () =>
    world.hot`select fault, status, halvings from erasures order by id`.then((rows) => [...rows]);
  expect(await shown()).toMatchObject([
    { fault: "The database canceled a statement that took too long.", status: "running" },
    // The other erasure continues.
    { fault: null, status: "running" },
  ]);
  expect(await world.statuses(others)).toEqual([`${ERASED} delivered`]);
  expect(await world.statuses(ids[0] ?? "")).toEqual([`${ANN} delivered`]);
  // As after four of these faults.
  await world.hot`update erasures set halvings = 5 where fault is not null`;
  for (let n = 0; n < 4; n++) {
    await runAfter("5 min");
  }
  expect(await shown()).toMatchObject([
    { fault: null, status: "done" },
    { fault: null, status: "done" },
  ]);
  for (const id of ids) expect(await world.statuses(id)).toEqual([`${ERASED} delivered`]);
});

test("a fault is stored without the message of the database, which can contain the address", async () => {
  await world.sendMail({ to: ANN });
  await world.deliver();
  await world.hot.unsafe(`
    create function fail() returns trigger language plpgsql as $$ begin raise exception 'fault of ${ANN}'; end $$;
    create trigger fail before update on emails for each row execute function fail()`);
  await world.requestErasure();
  await world.runErasures();
  const fault = (await world.erasure())?.fault;
  expect(fault).toContain("P0001");
  expect(fault).not.toContain("ann");
  expect(await minutesToNext()).toBeGreaterThan(4);
  await world.hot.unsafe("drop trigger fail on emails");
  await world.elapse("5 min");
  await runErasures(world.deps, () => true);
  expect(await world.erasure()).toMatchObject({ fault: null, pass: 2 });
});

test("a step reads a limited number of bytes, but at least one email", () => {
  const sized = [3, 4, 5, 100].map((bytes, n) => ({ id: String(n), bytes }));
  expect(takeBytes(sized, 12)).toEqual(["0", "1", "2"]);
  expect(takeBytes(sized, 6)).toEqual(["0"]);
  expect(takeBytes(sized.slice(3), 12)).toEqual(["3"]);
  expect(takeBytes(sized, 1_000)).toEqual(["0", "1", "2", "3"]);
  expect(takeBytes([], 12)).toEqual([]);
});
