import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sweep } from "#server/delivery/housekeeping/sweep";
import { outcomeOfReply, parseSmtpReply } from "#server/mail/outcome";
import { newId } from "#server/platform/ids";
import type { CapChange } from "#server/services/domains/caps";
import { findDomain } from "#server/services/domains/read";
import { addDomain, updateDomain } from "#server/services/domains/write";
import { addSuppressions } from "#server/services/suppressions/suppress";
import { updateTeam } from "#server/services/teams";
import { acceptedBy, type CountingTransport, createCountingTransport } from "../support/counting-transport";
import { elapseDay } from "../support/database/elapse-day";
import { expireLeases } from "../support/database/leases";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { startOwnEngine } from "../support/pump-engine";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let out: CountingTransport;
let stops: (() => Promise<void>)[];
beforeEach(async () => {
  out = createCountingTransport("relay");
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

const capDomain = async (change: CapChange, name = "example.org") =>
  updateDomain(world.ctx, (await findDomain(world.ctx, name)).id, change);
const queue = (count: number, domain = "example.org") =>
  queueMany(world.hot, { teamId: world.ctx.teamId, domain, count, to: `to-${domain}` });

/** Starts an engine that runs until the end of the test. */
const startEngine = () => void stops.push(startOwnEngine(world, out));

const waitingBy = async (rule: string): Promise<number> => {
  const [row] = await world.hot<{ n: number }[]>`
    select count(*)::int as n from deliveries where status = 'queued' and wait_rule = ${rule} and due_at > now()`;
  return row?.n ?? 0;
};
const settled = (handedOver: number, rule: string, waiting: number) =>
  vi.waitFor(async () => {
    expect(out.handedOver).toHaveLength(handedOver);
    expect(await waitingBy(rule)).toBe(waiting);
  }, eventually);
const countersOfToday = async (): Promise<Record<string, number>> => {
  const rows = await world.hot<{ domain: string; n: number }[]>`
    select domain, handed_over as n from sending_days where day = (now() at time zone 'utc')::date`;
  return Object.fromEntries(rows.map(({ domain, n }) => [domain, n]));
};

test("three concurrent workers hand over exactly the daily cap, and the rest waits for the next days without an attempt", async () => {
  await capDomain({ dailyCap: 100 });
  await queue(180);
  for (let n = 0; n < 3; n++) startEngine();
  await settled(100, "daily_cap", 80);
  expect(await countersOfToday()).toEqual({ "example.org": 100 });
  const rows = await world.hot<{ attempts: number; inTime: boolean; status: string }[]>`
    select d.attempts, e.status, d.due_at >= day.next and d.due_at <= day.next + interval '1 hour' as "inTime"
    from deliveries d join emails e on e.id = d.email_id
      cross join (select ((now() at time zone 'utc')::date + 1)::timestamp at time zone 'utc' as next) day
    where d.status = 'queued'`;
  expect(rows).toHaveLength(80);
  for (const row of rows) expect(row).toEqual({ attempts: 0, inTime: true, status: "queued" });

  await elapseDay(world.hot);
  await settled(180, "daily_cap", 0);
  expect(new Set(out.handedOver).size).toBe(180);
});

test("a domain over its cap does not block other email of its team and is not claimed repeatedly", async () => {
  await addDomain(world.ctx, { name: "other.example", verified: true });
  await capDomain({ dailyCap: 50 });
  await queue(1_500);
  await queue(1, "other.example");
  await world.hot.unsafe(`
    create sequence claims;
    create function count_claim() returns trigger language plpgsql as $$ begin perform nextval('claims'); return null; end $$;
    create trigger count_claims after update on queue for each row
      when (new.stage = 'claimed' and old.stage <> 'claimed') execute function count_claim();`);
  startEngine();
  await vi.waitFor(
    () => expect(out.handedOver).toContainEqual(expect.stringMatching(/@to-other\.example$/)),
    eventually,
  );
  await settled(51, "daily_cap", 1_450);
  const [claims] = await world.hot<{ n: number }[]>`select last_value::int as n from claims`;
  expect(claims?.n).toBeLessThan(900);
});

test("a warm-up raises its limit each day and ends on the day that reaches its target", async () => {
  await capDomain({ warmUp: { startDate: null, firstDay: 10, growthPercent: 100, target: 40 } });
  await queue(75);
  startEngine();
  await settled(10, "warm_up", 65);
  await elapseDay(world.hot);
  await settled(30, "warm_up", 45);
  await elapseDay(world.hot);
  await settled(75, "warm_up", 0);
});

test("the lower of cap and warm-up applies, and a warm-up does not apply before its first day", async () => {
  await capDomain({
    dailyCap: 30,
    warmUp: { startDate: null, firstDay: 5, growthPercent: 900, target: null },
  });
  await queue(80);
  startEngine();
  await settled(5, "warm_up", 75);
  await elapseDay(world.hot);
  await settled(35, "daily_cap", 45);
  await capDomain({ warmUp: { startDate: "2199-01-01", firstDay: 1, growthPercent: 10, target: null } });
  await elapseDay(world.hot);
  await settled(65, "daily_cap", 15);
});

test("the team's cap applies to all its domains, and only hand-overs that both caps allow are counted", async () => {
  await addDomain(world.ctx, { name: "other.example", verified: true });
  await capDomain({ dailyCap: 5 });
  await updateTeam(world.ctx, { dailyCap: 8 });
  await queue(10);
  await queue(10, "other.example");
  startEngine();
  await vi.waitFor(async () => {
    expect(out.handedOver).toHaveLength(8);
    expect((await waitingBy("daily_cap")) + (await waitingBy("team_daily_cap"))).toBe(12);
  }, eventually);
  const ofFirst = out.handedOver.filter((address) => address.endsWith("@to-example.org")).length;
  expect(ofFirst).toBeLessThanOrEqual(5);
  expect(await countersOfToday()).toEqual({ "": 8, "example.org": ofFirst });
});

describe("a recipient is counted once a day", () => {
  test("for any number of attempts on that day, and again on another day", async () => {
    let isBusy = true;
    out = createCountingTransport("relay", async (recipient) =>
      isBusy
        ? outcomeOfReply(recipient, parseSmtpReply("451 4.3.0 Later"), "mx.example.net", "rcpt")
        : acceptedBy(recipient),
    );
    await capDomain({ dailyCap: 2 });
    await queue(2);
    startEngine();
    const deferred = () => world.hot`select 1 from deliveries where wait_rule = 'retry_schedule'`;
    await vi.waitFor(async () => expect(await deferred()).toHaveLength(2), eventually);
    expect(out.handedOver).toHaveLength(2);
    await world.hot`update deliveries set due_at = now()`;
    await vi.waitFor(async () => expect(out.handedOver).toHaveLength(4), eventually);
    await vi.waitFor(async () => expect(await deferred()).toHaveLength(2), eventually);
    expect(await countersOfToday()).toEqual({ "example.org": 2 });

    await queue(1);
    await vi.waitFor(async () => expect(await waitingBy("daily_cap")).toBe(1), eventually);
    isBusy = false;
    await elapseDay(world.hot);
    await vi.waitFor(async () => expect(await countersOfToday()).toEqual({ "example.org": 2 }), eventually);
  });

  test("also after an unknown outcome", async () => {
    const { handOverWithinCaps } = await import("#server/delivery/throttle/daily-caps");
    const { claimDeliveries } = await import("#server/delivery/queue/claims");
    const { recoverExpired } = await import("#server/delivery/queue/recover-expired");
    await capDomain({ dailyCap: 1 });
    await queue(1);
    for (let attempt = 1; attempt <= 2; attempt++) {
      const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
      expect(claims).toHaveLength(1);
      const asked = claims.map((claim) => ({
        ...claim,
        senderDomain: "example.org",
        offersUnsubscribe: false,
      }));
      expect((await handOverWithinCaps(world.hot, asked)).started.size).toBe(1);
      // Its worker dies during the dialogue.
      await expireLeases(world.hot);
      expect(await recoverExpired(world.hot, newId, 10)).toHaveLength(1);
    }
    expect(await countersOfToday()).toEqual({ "example.org": 1 });
  });

  test("and not at all if the hand-over is not committed or the address is suppressed before it", async () => {
    await capDomain({ dailyCap: 10 });
    await queue(3);
    await addSuppressions(world.ctx, ["r1@to-example.org"]);
    await world.hot.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before update on queue for each row
        when (new.stage = 'handed_over') execute function refuse();`);
    startEngine();
    await vi.waitFor(
      async () =>
        expect(await world.hot`select 1 from deliveries where status = 'suppressed'`).toHaveLength(1),
      eventually,
    );
    for (const stop of stops.splice(0)) await stop();
    expect(await countersOfToday()).toEqual({});
    expect(out.handedOver).toEqual([]);
  });
});

describe("postponed email is sent on the same day", () => {
  const sweepOnce = () => sweep(world.withTransport(out.transport));

  test("up to a raised cap", async () => {
    await capDomain({ dailyCap: 10 });
    await queue(40);
    startEngine();
    await settled(10, "daily_cap", 30);
    expect(await sweepOnce()).toBe(0);
    await capDomain({ dailyCap: 25 });
    expect(await sweepOnce()).toBe(15);
    await settled(25, "daily_cap", 15);
  });

  test("after the domain's or the team's cap is removed", async () => {
    await updateTeam(world.ctx, { dailyCap: 10 });
    await queue(40);
    startEngine();
    await settled(10, "team_daily_cap", 30);
    await updateTeam(world.ctx, { dailyCap: null });
    expect(await sweepOnce()).toBe(30);
    await settled(40, "team_daily_cap", 0);
    expect(await sweepOnce()).toBe(0);
  });
});

test("a cap of 0 delays all email, and email to backstamp.test is not counted", async () => {
  await capDomain({ dailyCap: 0 });
  await queue(5);
  const { id } = await world.send({ to: ["delivered@backstamp.test"] });
  startEngine();
  await vi.waitFor(async () => expect((await world.email(id)).status).toBe("delivered"), eventually);
  await settled(0, "daily_cap", 5);
});
