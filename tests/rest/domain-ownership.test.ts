import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { recheckDomains } from "#server/services/domains/check/verify";
import { declareDomainVerified } from "#server/services/domains/write";
import { createGate } from "../support/gate";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld, type TestTeam } from "../support/world";

const { zone, peer } = await startZone();
// A call that waits too long for one of these connections gets 503.
const world = await openWorld({ dnsServers: [peer], connectionsMax: 16 });
const { token } = await world.key();
afterAll(() => peer.close());
// The tests count due checks, so only the domains of the current test may exist.
beforeEach(async () => {
  zone.clear();
  await world.hot`delete from domains where name <> 'backstamp.test'`;
});

type Domain = { id: string; status: string; records: (Listed & { purpose: string; status: string })[] };

let count = 0;
const newName = () => `owned${++count}.example`;

async function create(name = newName(), by = token): Promise<Domain> {
  const { status, body } = await world.api("POST", "/api/domains", { token: by, body: { name } });
  expect(status).toBe(201);
  return body as unknown as Domain;
}
async function request(method: string, path: string, by = token): Promise<Domain> {
  const { status, body } = await world.api(method, path, { token: by });
  expect(status).toBe(200);
  return body as unknown as Domain;
}
const verify = (id: string, by = token) => request("POST", `/api/domains/${id}/verify`, by);
const statusOf = async (id: string) => (await request("GET", `/api/domains/${id}`)).status;

async function verified(): Promise<Domain> {
  const domain = await create();
  publish(zone, domain.records);
  expect((await verify(domain.id)).status).toBe("verified");
  return domain;
}
const withdraw = (domain: Domain) => {
  for (const { host, type } of domain.records) zone.remove(host, type);
};
/** Moves the times of domains, and runs the due checks, as a worker does. */
async function checksAfter(interval: string): Promise<number> {
  await world.hot`
    update domains set next_check_at = next_check_at - ${interval}::interval,
      failing_since = failing_since - ${interval}::interval, expires_at = expires_at - ${interval}::interval`;
  return recheckDomains(world.deps, 100);
}

describe("one owner at a time", () => {
  test("of many concurrent additions of a name by two teams, one per team succeeds", async () => {
    const other = await world.otherTeam();
    const foreign = await other.key();
    const body = { name: newName() };
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        world.api("POST", "/api/domains", { token: n % 2 ? token : foreign.token, body }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, ...Array<number>(6).fill(409)]);
  });

  test("a released name must be verified again: the records of the last owner are not valid for any team, including that owner", async () => {
    const other = await world.otherTeam();
    const foreign = await other.key();
    const name = newName();
    const first = await create(name);
    publish(zone, first.records);
    expect((await verify(first.id)).status).toBe("verified");
    await world.api("DELETE", `/api/domains/${first.id}`, { token });

    const taken = await create(name, foreign.token);
    expect((await verify(taken.id, foreign.token)).status).toBe("failed");
    const again = await create(name);
    expect((await verify(again.id)).records.map(({ status }) => status)).toEqual([
      "failed",
      "failed",
      "failed",
    ]);
    publish(zone, again.records);
    expect((await verify(again.id)).status).toBe("verified");
    const tokens = [first, taken, again].map(
      ({ records }) => records.find(({ purpose }) => purpose === "ownership")?.value,
    );
    expect(new Set(tokens).size).toBe(3);
    for (const value of tokens) expect(value).toMatch(/^backstamp-verification=[A-Za-z0-9_-]{32}$/);
  });
});

describe("the status", () => {
  test("changes automatically from not started to pending to verified as the records appear", async () => {
    const domain = await create();
    expect(domain.status).toBe("not_started");
    expect(await checksAfter("30 days")).toBe(0);
    expect((await verify(domain.id)).status).toBe("pending");
    publish(zone, domain.records.slice(0, 1));
    expect(await checksAfter("1 min")).toBe(1);
    expect(await statusOf(domain.id)).toBe("partially_verified");
    publish(zone, domain.records);
    expect(await checksAfter("30 sec")).toBe(0);
    expect(await checksAfter("30 sec")).toBe(1);
    expect(await statusOf(domain.id)).toBe("verified");
  });

  test("is failed after three days without records, whatever the number of checks, and a new verify call restarts it", async () => {
    const domain = await create();
    await verify(domain.id);
    // Hourly, then every four hours.
    let [early, late] = [0, 0];
    for (let n = 0; n < 10; n++) early += await checksAfter("1 hour");
    for (let n = 0; n < 15; n++) late += await checksAfter("4 hours");
    expect([early, late]).toEqual([7, 15]);
    expect(await statusOf(domain.id)).toBe("pending");
    await checksAfter("4 hours");
    const checked = await request("GET", `/api/domains/${domain.id}`);
    expect(checked.status).toBe("failed");
    expect(await checksAfter("30 days")).toBe(0);
    expect((await verify(domain.id)).status).toBe("pending");
  });

  test("is partially failed if some records are correct and others are wrong", async () => {
    const domain = await create();
    publish(zone, domain.records);
    const own = domain.records.find(({ purpose }) => purpose === "ownership");
    zone.set(own?.host ?? "", "TXT", "backstamp-verification=somebody-else");
    expect((await verify(domain.id)).status).toBe("partially_failed");
  });

  test("of a verified domain survives one failed check and days of DNS outages", async () => {
    const domain = await verified();
    withdraw(domain);
    expect(await checksAfter("24 hours")).toBe(1);
    const checked = await request("GET", `/api/domains/${domain.id}`);
    expect(checked).toMatchObject({ status: "verified", failing_since: expect.any(String) });
    expect(checked.records.map(({ status }) => status)).toEqual(["failed", "pending", "failed"]);
    for (const { host } of domain.records) zone.fail(host, { rcode: "SERVFAIL" });
    for (let day = 0; day < 4; day++) await checksAfter("24 hours");
    expect(await statusOf(domain.id)).toBe("verified");
    zone.clear();
    publish(zone, domain.records);
    await checksAfter("24 hours");
    expect(await request("GET", `/api/domains/${domain.id}`)).toMatchObject({
      status: "verified",
      failing_since: null,
    });
  });

  test("changes to failed after three days of failed checks, which stops sending", async () => {
    const domain = await verified();
    const { body } = await world.api("GET", `/api/domains/${domain.id}`, { token });
    const newEmail = { from: `a@${body.name}`, to: "delivered@backstamp.test", subject: "x", html: "x" };
    withdraw(domain);
    await checksAfter("24 hours");
    for (const interval of ["30 hours", "30 hours", "11 hours"]) await checksAfter(interval);
    expect(await statusOf(domain.id)).toBe("verified");
    expect((await world.api("POST", "/api/emails", { token, body: newEmail })).status).toBe(200);
    await checksAfter("6 hours");
    expect(await statusOf(domain.id)).toBe("failed");
    const refused = await world.api("POST", "/api/emails", { token, body: newEmail });
    expect(refused.body).toMatchObject({ statusCode: 422, message: expect.stringContaining("not verified") });
  });

  test("does not change after two failed checks with days without a worker in between", async () => {
    const domain = await verified();
    withdraw(domain);
    await checksAfter("24 hours");
    await checksAfter("10 days");
    expect(await statusOf(domain.id)).toBe("verified");
  });

  test("that the operator set stays, whatever DNS contains, and its records are still returned", async () => {
    const declared = await world.domain(newName());
    const later = await create();
    await verify(later.id);
    await declareDomainVerified(
      world.ctx,
      ((await request("GET", `/api/domains/${later.id}`)) as unknown as { name: string }).name,
    );
    for (const id of [declared.id, later.id]) {
      const checked = await verify(id);
      expect(checked.status).toBe("verified");
      expect(checked.records.map(({ purpose, status }) => [purpose, status])).toEqual([
        ["dkim", "pending"],
        ["dkim_ed25519", "pending"],
        ["ownership", "pending"],
      ]);
    }
    for (let day = 0; day < 4; day++) await checksAfter("24 hours");
    for (const { id } of [declared, later]) expect(await statusOf(id)).toBe("verified");
  });

  test("is checked once by concurrent workers", async () => {
    const made: Domain[] = [];
    for (let n = 0; n < 3; n++) {
      made.push(await create());
      await verify(made[n]?.id ?? "");
    }
    await world.elapse("1 min");
    const before = peer.asked.length;
    const counts = await Promise.all([1, 2, 3].map(() => recheckDomains(world.deps, 2)));
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(3);
    const dkim = peer.asked.slice(before).filter(({ name }) => name.startsWith("backstamp._domainkey.owned"));
    for (const { records } of made)
      expect(dkim.filter(({ name }) => name === records[0]?.host)).toHaveLength(1);
  });
});

test("two concurrent checks have one result, which both callers get", async () => {
  const domain = await create();
  publish(zone, domain.records);
  const checked = await Promise.all(Array.from({ length: 3 }, () => verify(domain.id)));
  expect(checked.map(({ status }) => status)).toEqual(Array<string>(3).fill("verified"));
});

test("a domain that is deleted during a check stays deleted", async () => {
  const other: TestTeam = await world.otherTeam();
  const { token: by } = await other.key();
  const domain = await create(newName(), by);
  const query = world.deps.dns;
  const [asked, deleted] = [createGate(), createGate()];
  world.deps.dns = async (...question) => {
    asked.open();
    await deleted.passed;
    return query(...question);
  };
  const verifying = world.api("POST", `/api/domains/${domain.id}/verify`, { token: by });
  await asked.passed;
  await world.api("DELETE", `/api/domains/${domain.id}`, { token: by });
  deleted.open();
  expect((await verifying).status).toBe(404);
  world.deps.dns = query;
});
