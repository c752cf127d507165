import { afterEach, beforeEach, expect, test } from "vitest";
import { claimDeliveries, mayLeaveMore } from "#db/queue";
import type { Priority } from "#db/schema/emails";
import { newId } from "#server/ids";
import { createTeam } from "#server/services/teams";
import { createEngine } from "#server/worker/engine";
import { countHandOvers } from "../support/hand-overs";
import { type House, openHouse } from "../support/house";
import { queueMany } from "../support/queue-many";

let house: House;
beforeEach(async () => {
  house = await openHouse({ transportKind: "relay" });
});
afterEach(() => house.close());

const queue = (priority: Priority, count: number, teamId = house.ctx.teamId) =>
  queueMany(house.hot, { teamId, domain: "example.org", count, to: `${priority}.example`, priority });
const claim = async (limit: number) => {
  const claims = await claimDeliveries(house.hot, { limit, leaseToken: newId() });
  const countOf = (priority: Priority, teamId?: string) =>
    claims.filter(
      (each) => each.domain === `${priority}.example` && (teamId === undefined || each.teamId === teamId),
    ).length;
  return { claims, countOf };
};

test("urgent mail goes first, however much of the rest waits and for how long", async () => {
  await queue("low", 1_000);
  await queue("normal", 1_000);
  await queue("high", 20);
  const { claims, countOf } = await claim(150);
  expect(claims).toHaveLength(150);
  expect(countOf("high")).toBe(20);
  expect(countOf("normal")).toBeGreaterThanOrEqual(114);
  expect(mayLeaveMore(claims)).toBe(true);
});

test("no amount of urgent mail stops the rest: of each claim a tenth is low and a fifth normal", async () => {
  for (const priority of ["high", "normal", "low"] as const) await queue(priority, 2_000);
  for (let n = 0; n < 5; n++) {
    const { claims, countOf } = await claim(150);
    expect(claims).toHaveLength(150);
    expect(countOf("low")).toBeGreaterThanOrEqual(15);
    expect(countOf("normal")).toBeGreaterThanOrEqual(30);
    expect(countOf("high")).toBeGreaterThanOrEqual(103);
  }
});

test("where a team has but one place in a claim, what is low still has its chance at it", async () => {
  await queue("high", 300);
  await queue("low", 300);
  let low = 0;
  for (let n = 0; n < 200 && low === 0; n++) low += (await claim(1)).countOf("low");
  expect(low).toBe(1);
});

test("places that nobody of their priority wants are filled with what is due", async () => {
  await queue("high", 200);
  await queue("low", 1);
  const first = await claim(150);
  expect(first.claims.length).toBeGreaterThanOrEqual(130);
  expect(mayLeaveMore(first.claims)).toBe(true);
  const second = await claim(150);
  expect(first.claims.length + second.claims.length).toBe(201);
  expect(mayLeaveMore(second.claims)).toBe(false);
});

test("priority is a matter within a team: another team's share is what it was", async () => {
  const { id: other } = await createTeam(house.deps, { name: "Other" });
  await queue("high", 1_000);
  await queue("low", 1_000, other);
  const { countOf } = await claim(100);
  expect(countOf("high", house.ctx.teamId)).toBe(50);
  expect(countOf("low", other)).toBe(50);
});

test("a mail's priority is that of each of its recipients", async () => {
  const { id } = await house.send({ to: ["ann@example.net", "ben@example.net"], priority: "high" });
  expect((await house.email(id)).priority).toBe("high");
  expect(await house.hot`select distinct priority from deliveries`).toMatchObject([{ priority: 0 }]);
});

test("behind 5,000 urgent mails a low one is handed over after a few batches", async () => {
  const out = countHandOvers("relay");
  const engine = createEngine(house.withTransport(out.transport), { dialoguesMax: 10 });
  await queue("high", 5_000);
  await queue("low", 1);
  const place = () => out.handedOver.findIndex((address) => address.endsWith("@low.example"));
  while (place() < 0) if (!(await engine.pump())) await engine.idle(5);
  expect(place()).toBeLessThan(600);
  await engine.drain(1_000);
});
