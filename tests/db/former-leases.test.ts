import { readFile } from "node:fs/promises";
import postgres from "postgres";
import { describe, expect, test, vi } from "vitest";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recoverExpired } from "#server/delivery/queue/recover-expired";
import { newId } from "#server/platform/ids";
import { updateTeam } from "#server/services/teams";
import { expireLeases } from "../support/database/leases";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

/** The statements of release 0.2.0, which claims in `deliveries`. */
const former = {
  claim: () => world.hot<{ id: string; status: string; token: string | null }[]>`
    update deliveries d set status = 'sending', stage = 'claimed', attempts = d.attempts + 1, lease_token = ${newId()},
      leased_until = now() + interval '1 min', wait_rule = null, updated_at = now()
    from (select id from deliveries where status in ('queued', 'scheduled') and lapses < 3 and due_at <= now()
          order by due_at, id limit 10 for update skip locked) as due
    where d.id = due.id returning d.id, d.status, d.lease_token as token`,
  handOver: (token: string) => world.hot`
    update deliveries set stage = 'handed_over', updated_at = now() where lease_token = ${token} returning id`,
  record: (token: string) => world.hot`
    update deliveries set status = 'sent', stage = 'idle', lease_token = null, leased_until = null, due_at = now()
    where lease_token = ${token} returning id`,
};
const claim = () => claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
const recover = () => recoverExpired(world.hot, newId, 10);
const rows = () => world.hot`
  select d.status, d.attempts, q.stage, q.lease_token is not null as "isLeased"
  from deliveries d left join queue q on q.id = d.id`;

describe("beside release 0.2.0", () => {
  test("a delivery has one worker, whichever claims it first", async () => {
    await world.send();
    expect(await claim()).toHaveLength(1);
    expect(await former.claim()).toEqual([]);

    await world.hot`delete from deliveries`;
    await world.hot`delete from queue`;
    await world.send();
    const [mine] = await former.claim();
    expect(mine).toMatchObject({ status: "sending" });
    expect(await claim()).toEqual([]);
    expect(await former.handOver(mine?.token ?? "")).toHaveLength(1);
    expect(await rows()).toMatchObject([{ attempts: 1, stage: "handed_over", isLeased: true }]);
    expect(await former.record(mine?.token ?? "")).toHaveLength(1);
    expect(await rows()).toEqual([{ status: "sent", attempts: 1, stage: null, isLeased: false }]);
  });

  test("a delivery that is not due is not claimed, whatever its own due time is", async () => {
    await world.send();
    await world.hot`update queue set due_at = now() + interval '1 hour'`;
    expect(await former.claim()).toEqual([]);
  });

  test("the delivery of a worker of that release that died in a dialogue is recovered", async () => {
    const { id } = await world.send();
    const [mine] = await former.claim();
    await former.handOver(mine?.token ?? "");
    await world.hot`update deliveries set leased_until = now() - interval '1 s'`;
    expect(await recover()).toMatchObject([{ stage: "handed_over", status: "queued" }]);
    expect(await former.record(mine?.token ?? "")).toEqual([]);
    expect((await world.email(id)).events.map(({ type }) => type)).toContain("email.unknown");
    expect(await claim()).toMatchObject([{ attempt: 2 }]);
  });
});

test("a delivery that ends while the queue is filled has no row in it", async () => {
  await world.send();
  const [mine] = await former.claim();
  await world.hot`delete from queue`;
  const isFilling = async () => {
    const [found] = await world.hot`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like 'INSERT INTO "queue"%'`;
    return found !== undefined;
  };
  const fill = await readFile(new URL("../../db/migrations/0044_fill_queue.sql", import.meta.url), "utf8");
  const sql = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  const filling = await world.hot.begin(async (tx) => {
    await tx`update deliveries set status = 'sent', lease_token = null where lease_token = ${mine?.token ?? ""}`;
    const filled = sql.unsafe(fill.slice(fill.indexOf("INSERT"))).execute();
    await vi.waitFor(async () => expect(await isFilling()).toBe(true), { timeout: 30_000, interval: 20 });
    return { filled };
  });
  await filling.filled;
  await sql.end();
  expect(await rows()).toMatchObject([{ status: "sent", isLeased: false }]);
});

describe("after a roll-back to release 0.2.0", () => {
  test("a delivery that a dead worker had only claimed is claimed", async () => {
    await world.send();
    await claim();
    await expireLeases(world.hot);
    expect(await former.claim()).toMatchObject([{ status: "sending", token: expect.any(String) }]);
  });

  test.each([
    ["retry", "queued"],
    ["hold", "unknown"],
  ] as const)("with the policy %s one that it had handed over is %s", async (unknown, status) => {
    await updateTeam(world.ctx, { unknown });
    const { id } = await world.send();
    await markHandedOver(world.hot, await claim());
    await expireLeases(world.hot);
    // Without a token, the release sends nothing.
    expect(await former.claim()).toMatchObject([{ status, token: null }]);
    const email = await world.email(id);
    expect(email.events.map(({ type }) => type)).toContain("email.unknown");
    expect(email.status).toBe(status === "queued" ? "deferred" : "unknown");
    expect(await former.claim()).toHaveLength(status === "queued" ? 1 : 0);
  });
});
