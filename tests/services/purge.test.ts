import { beforeEach, expect, test } from "vitest";
import { claimDeliveries } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { countWaiting, type PurgeInput, purgeQueue } from "#server/services/emails/change/purge";
import { leaseEmail } from "../support/database/leases";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { createWorld, type TestTeam } from "../support/world";

const world = forEachTest(() => createWorld());
let other: TestTeam;
beforeEach(async () => {
  other = await world.otherTeam();
  await other.domain("other.example");
  await world.domain("second.example");
});

const team = (): PurgeInput => ({
  teamId: world.id,
  domain: null,
  reason: "Sent to the wrong list",
  confirm: "First",
  after: null,
});

async function purgeAll(input: PurgeInput): Promise<{ canceled: number; calls: number }> {
  let canceled = 0;
  let calls = 0;
  for (let after = input.after; ; ) {
    const batch = await purgeQueue(world.ctx, { ...input, after });
    canceled += batch.canceled;
    calls++;
    after = batch.next;
    if (after === null) return { canceled, calls };
  }
}

const queue = (count: number, domain = "example.org", teamId = world.id, dueIn?: string) =>
  queueMany(world.hot, { teamId, domain, count, ...(dueIn !== undefined && { dueIn }) });
const statuses = async () =>
  Object.fromEntries(
    (
      await world.hot<{ key: string; n: number }[]>`
        select e.sender_domain || ' ' || d.status as key, count(*)::int as n
        from deliveries d join emails e on e.id = d.email_id group by 1`
    ).map(({ key, n }) => [key, n]),
  );

test("a purge of a team cancels what waits, with an event and the reason for each recipient, and nothing else", async () => {
  const several = await world.send({ to: ["ann@example.net", "ben@example.net"] });
  await world.hot`update deliveries set status = 'delivered', due_at = now() where address = 'ann@example.net'`;
  const deferred = await world.send();
  await world.hot`
    update deliveries set attempts = 3, due_at = now() + interval '4 hours', wait_rule = 'retry_schedule'
    where email_id = ${deferred.id}`;
  const suspect = await world.send();
  await world.hot`update deliveries set lapses = 4 where email_id = ${suspect.id}`;
  const claimed = await world.send();
  await leaseEmail(world.hot, claimed.id);
  const scheduled = await world.send({
    scheduledAt: new Date(world.clock.now().getTime() + 3_600_000).toISOString(),
  });
  await queue(5, "other.example", other.id);
  expect(await countWaiting(world.deps, team())).toBe(2);

  expect(await purgeAll(team())).toMatchObject({ canceled: 3 });
  const states = async (id: string) => (await world.email(id)).deliveries.map(({ status }) => status);
  expect(await states(several.id)).toEqual(["delivered", "canceled"]);
  expect(await states(deferred.id)).toEqual(["canceled"]);
  expect(await states(suspect.id)).toEqual(["canceled"]);
  expect(await states(claimed.id)).toEqual(["sending"]);
  expect(await states(scheduled.id)).toEqual(["scheduled"]);
  expect((await world.email(deferred.id)).status).toBe("canceled");
  expect((await world.email(several.id)).events.at(-1)).toMatchObject({
    type: "email.canceled",
    recipient: "ben@example.net",
    data: { reason: "The operator canceled it in the queue. Reason: Sent to the wrong list" },
  });
  expect(await statuses()).toMatchObject({ "other.example queued": 5 });
  expect(await world.hot`select team_id, detail from audit_log where action = 'queue.purged'`).toEqual([
    { team_id: world.id, detail: { scope: "First", reason: "Sent to the wrong list", recipients: 3 } },
  ]);
  // Nothing of it can be claimed now.
  const claims = await claimDeliveries(world.hot, { limit: 100, leaseToken: newId() });
  expect(claims.map(({ teamId }) => teamId)).toEqual(Array.from({ length: 5 }, () => other.id));
});

test("a purge runs in batches, can be interrupted and repeated, and is recorded once in the audit log", async () => {
  await queue(1_050);
  await queue(100, "second.example", world.id, "1 hour");
  const first = await purgeQueue(world.ctx, team());
  expect(first).toEqual({ canceled: 1_000, next: expect.any(String) });
  expect(await statuses()).toMatchObject({ "example.org canceled": 1_000, "example.org queued": 50 });
  // Email that is accepted meanwhile stays.
  await queue(7, "second.example");
  expect(await purgeAll({ ...team(), after: first.next })).toEqual({ canceled: 150, calls: 1 });
  expect(await statuses()).toMatchObject({ "example.org canceled": 1_050, "second.example queued": 7 });
  const recorded = async () =>
    (await world.hot`select detail from audit_log where action = 'queue.purged' order by id`).map(
      ({ detail }) => detail.recipients,
    );
  expect(await recorded()).toEqual([1_150]);
  expect(await purgeAll(team())).toMatchObject({ canceled: 7 });
  expect(await recorded()).toEqual([1_150, 7]);
});

test("a purge of a domain or of the installation cancels exactly that", async () => {
  await queue(30);
  await queue(20, "second.example");
  await queue(10, "other.example", other.id);
  const domain = { ...team(), domain: "second.example", confirm: "second.example" };
  expect(await countWaiting(world.deps, domain)).toBe(20);
  expect(await purgeAll(domain)).toMatchObject({ canceled: 20 });
  expect(await statuses()).toEqual({
    "example.org queued": 30,
    "second.example canceled": 20,
    "other.example queued": 10,
  });
  const all = { ...team(), teamId: null, confirm: "installation" };
  expect(await countWaiting(world.deps, all)).toBe(40);
  expect(await purgeAll(all)).toMatchObject({ canceled: 40 });
  const audit = await world.hot<{ team: string }[]>`
    select team_id as team from audit_log where action = 'queue.purged' and detail->>'scope' = 'installation'`;
  expect(audit.map((row) => row.team).sort()).toEqual([world.id, other.id].sort());
});

test("a purge without the name of the queue, without a reason, or of an unknown queue cancels nothing", async () => {
  await queue(5);
  for (const [input, code] of [
    [{ confirm: "" }, "invalid"],
    [{ confirm: "Other" }, "invalid"],
    [{ reason: "  " }, "invalid"],
    [{ after: "e30" }, "invalid"],
    [{ teamId: newId() }, "not_found"],
    [{ domain: "other.example", confirm: "other.example" }, "not_found"],
  ] as const)
    await expect(purgeQueue(world.ctx, { ...team(), ...input })).rejects.toMatchObject({ code });
  expect(await statuses()).toEqual({ "example.org queued": 5 });
});
