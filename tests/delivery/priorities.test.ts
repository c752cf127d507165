import { expect, test } from "vitest";
import type { Priority } from "#db/schema/emails";
import { claimDeliveries, hasMoreDue } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { createTeam } from "#server/services/teams";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

const queue = (priority: Priority, count: number, teamId = world.ctx.teamId) =>
  queueMany(world.hot, { teamId, domain: "example.org", count, to: `${priority}.example`, priority });
const claim = async (limit: number) => {
  const claims = await claimDeliveries(world.hot, { limit, leaseToken: newId() });
  const countOf = (priority: Priority, teamId?: string) =>
    claims.filter(
      (each) => each.domain === `${priority}.example` && (teamId === undefined || each.teamId === teamId),
    ).length;
  return { claims, countOf };
};

test("high-priority email is claimed first, before older email of lower priority", async () => {
  await queue("low", 200);
  await queue("normal", 200);
  await queue("high", 20);
  const { claims, countOf } = await claim(150);
  expect(claims).toHaveLength(150);
  expect(countOf("high")).toBe(20);
  expect(countOf("normal")).toBeGreaterThanOrEqual(114);
  expect(hasMoreDue(claims)).toBe(true);
});

test("with any amount of high-priority email, each claim has a tenth of low and a fifth of normal priority", async () => {
  for (const priority of ["high", "normal", "low"] as const) await queue(priority, 450);
  for (let n = 0; n < 3; n++) {
    const { claims, countOf } = await claim(150);
    expect(claims).toHaveLength(150);
    expect(countOf("low")).toBeGreaterThanOrEqual(15);
    expect(countOf("normal")).toBeGreaterThanOrEqual(30);
    expect(countOf("high")).toBeGreaterThanOrEqual(103);
  }
});

test("low priority has a chance even if a team gets a single row of a claim", async () => {
  await queue("high", 300);
  await queue("low", 300);
  let low = 0;
  for (let n = 0; n < 200 && low === 0; n++) low += (await claim(1)).countOf("low");
  expect(low).toBe(1);
});

test("unused reserved rows are filled with other due deliveries", async () => {
  await queue("high", 200);
  await queue("low", 1);
  const first = await claim(150);
  expect(first.claims.length).toBeGreaterThanOrEqual(130);
  expect(hasMoreDue(first.claims)).toBe(true);
  const second = await claim(150);
  expect(first.claims.length + second.claims.length).toBe(201);
  expect(hasMoreDue(second.claims)).toBe(false);
});

test("priority applies within a team: another team's share does not change", async () => {
  const { id: other } = await createTeam(world.deps, { name: "Other" });
  await queue("high", 200);
  await queue("low", 200, other);
  const { countOf } = await claim(100);
  expect(countOf("high", world.ctx.teamId)).toBe(50);
  expect(countOf("low", other)).toBe(50);
});

test("all deliveries of an email have its priority", async () => {
  const { id } = await world.send({ to: ["ann@example.net", "ben@example.net"], priority: "high" });
  expect((await world.email(id)).priority).toBe("high");
  expect(await world.hot`select distinct priority from deliveries`).toMatchObject([{ priority: 0 }]);
});
