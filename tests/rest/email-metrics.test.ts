import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { countNewEvents } from "#server/delivery/housekeeping/count-events";
import { recordOutcome } from "#server/services/returns/record";
import { listWrongTotals } from "../support/database/recipient-totals";
import { deliverDue } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openWorld, type TestTeam } from "../support/world";

type Row = Record<string, number | string | null>;
type Body = Row & { totals: Record<string, number>; data?: Row[] };

/** A new team for each test, with a domain of its own. */
let team: TestTeam;
let domain: string;
let count = 0;
let token: string;
let keyId: string;
let rcptReply = "250 ok";
const smtpServer = await startSmtpTestServer({ rcpt: () => rcptReply });
const transport = transportTo(smtpServer);
const world = await openWorld({ transportKind: "relay" });
afterAll(async () => {
  await transport.close();
  await smtpServer.close();
});
beforeEach(async () => {
  rcptReply = "250 ok";
  team = await world.otherTeam();
  domain = `metrics${++count}.example`;
  await team.domain(domain);
  ({ token, id: keyId } = await team.key());
});

const send = async (to: string[], more: object = {}, by = token) => {
  const body = { from: `ann@${domain}`, to, subject: "Hello", html: "<p>Hi</p>", ...more };
  const reply = await world.api("POST", "/api/emails", { token: by, body });
  expect(reply.status, reply.text).toBe(200);
  return String(reply.body.id);
};
const deliver = () => deliverDue(world.withTransport(transport));
const read = async (query = "", by = token): Promise<Body> => {
  const reply = await world.api("GET", `/api/emails/metrics${query}`, { token: by });
  expect(reply.status, reply.text).toBe(200);
  return reply.body as Body;
};
const ALL =
  "?metrics=received,sent,delivered,bounced,complained,failed,suppressed,in_progress,unknown,canceled";
/** Waits for open transactions of other tests in the cluster, because the counts follow the feed. */
const settled = async (query: string, totals: object, by = token) => {
  await expect.poll(async () => (await read(query, by)).totals, { timeout: 20_000 }).toMatchObject(totals);
  return read(query, by);
};

/** The columns without a dimension must be the statuses of the deliveries. */
async function expectStatuses() {
  await expect
    .poll(() => countNewEvents(world.withTransport(), () => true).then(readCounts), { timeout: 20_000 })
    .toEqual(await readStatuses());
  expect(await listWrongTotals(world.hot)).toEqual([]);
}
async function readCounts() {
  const [row] = await world.hot`
    select sum(received)::int as received, sum(sent)::int as sent, sum(delivered)::int as delivered,
      sum(bounced_permanent + bounced_transient + bounced_undetermined)::int as bounced, sum(complained)::int as complained,
      sum(failed)::int as failed, sum(unknown)::int as unknown, sum(suppressed)::int as suppressed,
      sum(canceled)::int as canceled
    from recipient_counts where tag = '' and unit = 'hour' and team_id = ${team.id}`;
  return { ...row };
}
async function readStatuses() {
  const countOf = (status: string) => world.hot`count(*) filter (where status = ${status})::int`;
  const [row] = await world.hot`
    select count(*)::int as received, ${countOf("sent")} as sent, ${countOf("delivered")} as delivered,
      ${countOf("bounced")} as bounced, ${countOf("complained")} as complained, ${countOf("failed")} as failed,
      ${countOf("unknown")} as unknown, ${countOf("suppressed")} as suppressed, ${countOf("canceled")} as canceled
    from deliveries where team_id = ${team.id}`;
  return { ...row };
}

test("a retry moves recipients: who was sent the email no longer counts as bounced", async () => {
  await send(["delivered@backstamp.test", "delivered+2@backstamp.test"], { from: "ann@backstamp.test" });
  rcptReply = "550 5.7.1 rejected";
  for (let n = 0; n < 3; n++) await send([`r${n}@example.net`]);
  await deliver();
  expect((await settled(ALL, { bounced: 3 })).totals).toEqual({
    received: 5,
    sent: 5,
    delivered: 2,
    bounced: 3,
    complained: 0,
    failed: 0,
    suppressed: 0,
    in_progress: 0,
    unknown: 0,
    canceled: 0,
  });
  expect((await read()).totals).toMatchObject({
    bounce_rate: 60,
    bounced_permanent: 3,
    bounced_transient: 0,
  });
  // The retry bounces again: the same recipients, so the same numbers.
  const retry = () => world.api("POST", "/api/emails/retry", { token, body: { status: "bounced" } });
  expect((await retry()).status).toBe(200);
  expect((await settled(ALL, { in_progress: 3 })).totals).toMatchObject({ received: 5, bounced: 0, sent: 2 });
  await deliver();
  expect((await settled(ALL, { bounced: 3 })).totals).toMatchObject({ received: 5, sent: 5, in_progress: 0 });
  rcptReply = "250 ok";
  expect((await retry()).status).toBe(200);
  await deliver();
  expect((await settled(ALL, { in_progress: 0, bounced: 0 })).totals).toMatchObject({ received: 5, sent: 5 });
  expect((await read()).totals).toMatchObject({ bounce_rate: 0, bounced_permanent: 0, delivery_rate: 40 });
  await expectStatuses();
});

test("every way to change a status is counted, in steps and at once", async () => {
  await world.hot`update teams set unknown_policy = 'hold' where id = ${team.id}`;
  const scripted = ["delivered", "bounced", "complained", "suppressed", "unknown", "deferred"];
  const from = "ann@backstamp.test";
  const mixed = await send(
    scripted.map((name) => `${name}@backstamp.test`),
    { from },
  );
  const scheduled = await send(["ben@example.net", "eva@example.net"], { scheduled_at: "in 1 hour" });
  await send(["dan@example.net"]);
  await deliver();
  await expectStatuses();
  expect((await settled("", { received: 9 })).totals).toMatchObject({ delivery_delayed: 1, suppressed: 1 });
  expect((await world.api("POST", `/api/emails/${scheduled}/cancel`, { token })).status).toBe(200);
  expect(
    (await world.api("POST", `/api/emails/${mixed}/settle`, { token, body: { as: "sent" } })).status,
  ).toBe(200);
  const [{ key } = { key: null }] = await world.hot<
    { key: { teamId: string; emailId: string; id: string } }[]
  >`
    select jsonb_build_object('teamId', team_id, 'emailId', email_id, 'id', id) as key from deliveries
    where address = 'dan@example.net' and team_id = ${team.id}`;
  if (!key) throw new Error("there is no delivery");
  const report = { delivery: key, reply: null, host: null, reason: "Reported.", suppresses: null };
  for (const effect of ["delayed", "delivered", "bounced"] as const) {
    expect(await recordOutcome(world.deps, { ...report, report: effect, effect })).toBe("recorded");
    await expectStatuses();
  }
  expect((await read(`?metrics=bounced,bounced_undetermined,canceled,unknown`)).totals).toEqual({
    bounced: 2,
    bounced_undetermined: 1,
    canceled: 2,
    unknown: 0,
  });
  const before = await readCounts();
  await world.hot`truncate recipient_counts, recipient_totals, metrics_progress`;
  await Promise.all([
    ...Array.from({ length: 2 }, () => read()),
    ...Array.from({ length: 2 }, () => countNewEvents(world.withTransport(), () => true)),
  ]);
  await expect.poll(() => read().then(readCounts), { timeout: 20_000 }).toEqual(before);
  const byEmail = await read(
    `?email_id=${mixed},${scheduled}&dimensions=email&metrics=received,canceled,complained`,
  );
  expect(byEmail.data).toEqual([
    { email_id: mixed, received: 6, canceled: 0, complained: 1 },
    { email_id: scheduled, received: 2, canceled: 2, complained: 0 },
  ]);
  expect(byEmail.totals).toEqual({ received: 8, canceled: 2, complained: 1 });
});

test("the dimensions: domain, tag, key and provider; a tag counts each of its recipients once", async () => {
  const second = await team.key();
  const tag = (name: string, value: string) => ({ name, value });
  await send(["ben@gmail.com", "eva@mail.hotmail.com"], {
    tags: [tag("kind", "a"), tag("kind", "a"), tag("to", "b")],
  });
  await send(["ben@example.net"], { tags: [tag("kind", "b")] }, second.token);
  await send(["delivered@backstamp.test"], { from: "ann@backstamp.test" });
  await deliver();
  const by = async (dimension: string, query = "") =>
    (await read(`?metrics=received&dimensions=${dimension}${query}`)).data;
  await settled("", { received: 4, sent: 4 });
  expect(await by("tag")).toEqual([
    { tag: "kind:a", received: 2 },
    { tag: "kind:b", received: 1 },
    { tag: "to:b", received: 2 },
  ]);
  expect(await by("provider")).toEqual([
    { provider: "gmail", received: 1 },
    { provider: "microsoft", received: 1 },
    { provider: "other", received: 2 },
  ]);
  expect(await by("key", "&provider=other&tag=kind:b")).toEqual([{ key_id: second.id, received: 1 }]);
  expect(await by("domain", `&key=${keyId}`)).toEqual([
    { domain_id: expect.any(String), domain_name: "backstamp.test", received: 1 },
    { domain_id: expect.any(String), domain_name: domain, received: 2 },
  ]);
  const domains = await by("domain");
  expect(
    (await read("?metrics=received&metrics=sent&metrics=received&dimensions=key&dimensions=domain")).data,
  ).toEqual(
    expect.arrayContaining([
      { key_id: second.id, domain_id: expect.any(String), domain_name: domain, received: 1, sent: 1 },
    ]),
  );
  const own = domains?.find(({ domain_name: name }) => name === domain);
  expect((await read(`?metrics=received&domain_id=${own?.domain_id}`)).totals).toEqual({ received: 3 });
  expect((await read("?metrics=received&tag=kind:a")).totals).toEqual({ received: 2 });
});

test("more tags than a day has room for are counted together, and leave as they came", async () => {
  const tags = (from: number) => Array.from({ length: 75 }, (_, n) => ({ name: "n", value: `v${from + n}` }));
  for (const nth of [0, 1, 2]) {
    await send(["ben@example.net"], { tags: tags(nth * 75) });
    await settled("", { received: nth + 1 });
  }
  const other = () => read("?metrics=received,in_progress,sent&dimensions=tag").then(({ data }) => data);
  const before = await other();
  expect(before).toHaveLength(201);
  expect(before?.find(({ tag }) => tag === "other")).toEqual({
    tag: "other",
    received: 1,
    in_progress: 1,
    sent: 0,
  });
  await deliver();
  await settled("", { sent: 3 });
  const after = await other();
  expect(after).toHaveLength(201);
  for (const row of after ?? []) expect(row).toEqual({ tag: row.tag, received: 1, in_progress: 0, sent: 1 });
});

test("counts stay when retention deletes the emails, which waits until they are counted", async () => {
  await send(["delivered@backstamp.test"], { from: "ann@backstamp.test" });
  await deliver();
  await settled("", { delivered: 1 });
  await world.hot`delete from emails where team_id = ${team.id}`;
  await countNewEvents(world.withTransport(), () => true);
  expect((await read()).totals).toMatchObject({ delivered: 1, received: 1 });
});

describe("periods", () => {
  const accept = async (...times: string[]) => {
    for (const time of times) {
      const id = await send(["ben@example.net"]);
      await world.hot`update emails set created_at = ${time} where id = ${id}`;
    }
    await expect
      .poll(async () => (await read("?start_date=2025-01-01&metrics=received")).totals, { timeout: 20_000 })
      .toEqual({ received: times.length });
  };
  const periods = async (query: string) =>
    (await read(`?metrics=received&dimensions=period&${query}`)).data?.map(({ period, received }) => [
      period,
      received,
    ]);

  test("days, weeks, months and hours, also without email, in the time zone and over a change of the clocks", async () => {
    await accept(
      "2026-03-28T22:30:00Z",
      "2026-03-28T23:30:00Z",
      "2026-03-29T21:30:00Z",
      "2026-03-29T22:30:00Z",
    );
    expect(await periods("start_date=2026-03-28&end_date=2026-03-31")).toEqual([
      ["2026-03-28", 2],
      ["2026-03-29", 2],
      ["2026-03-30", 0],
    ]);
    // The 29th has 23 hours there: from 23:00 to 22:00 in UTC.
    expect(await periods("start_date=2026-03-28&end_date=2026-03-31&timezone=Europe/Berlin")).toEqual([
      ["2026-03-28", 1],
      ["2026-03-29", 2],
      ["2026-03-30", 1],
    ]);
    expect(await periods("start_date=2026-03-20&end_date=2026-04-02&granularity=weekly")).toEqual([
      ["2026-03-16", 0],
      ["2026-03-23", 4],
      ["2026-03-30", 0],
    ]);
    expect(await periods("start_date=2026-03-01&end_date=2026-04-02&granularity=monthly")).toEqual([
      ["2026-03-01", 4],
      ["2026-04-01", 0],
    ]);
    expect(
      await periods("start_date=2026-03-28T22:10:00Z&end_date=2026-03-29T00:00:00Z&granularity=hourly"),
    ).toEqual([
      ["2026-03-28T22:00:00.000Z", 1],
      ["2026-03-28T23:00:00.000Z", 1],
    ]);
  });

  test("the default is the last six days; a future end is now, and the end is not included", async () => {
    const now = world.clock.now();
    const { start_date: start, end_date: end, ...rest } = await read();
    expect(rest).toMatchObject({
      object: "metrics",
      dimensions: [],
      granularity: "daily",
    });
    expect(Date.parse(String(end)) - now.getTime()).toBeLessThan(60_000);
    expect((Date.parse(String(end)) - Date.parse(String(start))) / 86_400_000).toBeCloseTo(6, 1);
    const future = await read("?start_date=2026-01-01&end_date=2090-01-01");
    expect(Date.parse(String(future.end_date))).toBeLessThan(now.getTime() + 60_000);
  });
});

test("422 names the parameter", async () => {
  for (const [query, named] of [
    ["start_date=2026-02-01&end_date=2026-01-01", "start_date"],
    ["start_date=0001-01-01", "start_date"],
    ["timezone=Mars/Olympus", "timezone"],
    ["granularity=yearly", "granularity"],
    ["metrics=sent,opens", "opens"],
    ["dimensions=broadcast", "broadcasts"],
    ["dimensions=email", "email_id"],
    ["domain_id=00000000-0000-7000-8000-000000000000", "domain_id"],
    ["tag=kind", "tag"],
    ["tag=a:b&tag=a:c", "more than once"],
    ["start_date=2020-01-01&end_date=2026-01-01&granularity=hourly&dimensions=period", "periods"],
  ] as const) {
    const reply = await world.api("GET", `/api/emails/metrics?${query}`, { token });
    expect(reply.status, query).toBe(422);
    expect(reply.text).toContain(named);
  }
});

test("a key that is limited to a domain reads only its own domain, and no other team is included", async () => {
  await team.domain("second.example");
  const limited = await team.key({ domains: ["second.example"] });
  const other = await world.otherTeam();
  const { token: foreign } = await other.key();
  await send(["ben@example.net"]);
  const id = await send(["ben@example.net"], { from: "ann@second.example" });
  await settled("?metrics=received", { received: 2 });
  expect(await read("?metrics=received&dimensions=domain", limited.token)).toMatchObject({
    totals: { received: 1 },
    data: [{ domain_name: "second.example", received: 1 }],
  });
  expect((await read("?metrics=received", foreign)).totals).toEqual({ received: 0 });
  expect((await read(`?metrics=received&email_id=${id}`, foreign)).totals).toEqual({ received: 0 });
});
