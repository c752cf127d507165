import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { newId } from "#server/platform/ids";
import { setDestinationLimit, unsetDestinationLimit } from "#server/services/destinations/limits";
import { readDestinations, shareOf } from "#server/services/destinations/states";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { pumpEngine } from "../support/pump-engine";
import { type Act, PASS } from "../support/servers/smtp-test-server";
import { startTestInternet } from "../support/servers/test-internet";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };
const limitedDomain = "town.example";

const world = forEachTest(() => createWorld({ transportKind: "direct" }));
const internet = forEachTest(() =>
  startTestInternet({
    [limitedDomain]: { a: ["127.0.0.2"] },
    "other.example": { a: ["127.0.0.3"] },
  }),
);
let stop: () => Promise<void>;
beforeEach(async () => {
  stop = async () => {};
});
afterEach(() => stop());

/** An engine that pumps until the end of the test. */
function start(workerId?: string): void {
  const engine = createEngine(world.withTransport(internet.transport()), { dialoguesMax: 8, workerId });
  const stopPumping = pumpEngine(engine);
  stop = async () => {
    await stopPumping();
    await engine.drain(0);
  };
}

const send = async (domain: string, count: number) => {
  for (let n = 0; n < count; n++) await world.send({ to: [`r${n}@${domain}`] });
};

type Row = { domain: string; status: string; rule: string | null; waits: boolean; attempts: number };
const rows = () => world.hot<Row[]>`
  select d.domain, case when q.lease_token is null then d.status else 'sending' end as status, d.wait_rule as rule,
    d.due_at > now() as waits, d.attempts
  from deliveries d left join queue q on q.id = d.id order by d.id`;
const makeAllDue = () =>
  world.hot`update deliveries set due_at = now() where status = 'queued' and due_at > now()`;
const WAITING = { status: "queued", rule: "destination_throttled", waits: true, attempts: 0 };

const untilAllDelivered = () =>
  vi.waitFor(async () => {
    await makeAllDue();
    expect(new Set((await rows()).map(({ status }) => status))).toEqual(new Set(["delivered"]));
  }, eventually);

const startWorkers = async (...ids: string[]) => {
  for (const id of ids)
    await world.hot`insert into workers (id, host, pid, transport) values (${id}, 'elsewhere', 1, 'direct')`;
};

test("a destination with a limit of 1 connection gets no second one, and one without a limit does", async () => {
  await setDestinationLimit(world.deps, limitedDomain, { connectionsMax: 1 });
  const gate = createGate();
  let concurrent = 0;
  const greeting = () => gate.passed.then((): Act => PASS);
  const limited = await internet.serve("127.0.0.2", {
    greeting,
    mail: (): Act => {
      concurrent = Math.max(concurrent, limited.open());
      return PASS;
    },
  });
  const other = await internet.serve("127.0.0.3", { greeting });
  await send(limitedDomain, 6);
  await send("other.example", 6);
  start();
  await vi.waitFor(() => expect([limited.connections(), other.connections()]).toEqual([1, 2]), eventually);
  await vi.waitFor(async () => {
    const waiting = (await rows()).filter(
      ({ domain, status }) => domain === limitedDomain && status === "queued",
    );
    expect(waiting).toHaveLength(5);
    for (const row of waiting) expect(row).toMatchObject({ rule: "destination_throttled", attempts: 0 });
  }, eventually);
  gate.open();
  await untilAllDelivered();
  expect(limited.messages).toHaveLength(6);
  expect(concurrent).toBe(1);
});

test("a destination with a limit of 1 a minute gets one email; the others wait with rule and due time until the limit is removed", async () => {
  await setDestinationLimit(world.deps, limitedDomain, { perMinute: 1 });
  const peer = await internet.serve("127.0.0.2");
  await send(limitedDomain, 3);
  start();
  const expectTwoWaiting = () =>
    vi.waitFor(async () => {
      const queued = (await rows()).filter(({ status }) => status === "queued");
      expect(queued).toMatchObject([WAITING, WAITING]);
    }, eventually);
  await vi.waitFor(() => expect(peer.messages).toHaveLength(1), eventually);
  await expectTwoWaiting();
  // When they are due again, they are claimed and requeued for the same reason.
  await makeAllDue();
  await expectTwoWaiting();
  expect(peer.messages).toHaveLength(1);
  await unsetDestinationLimit(world.deps, limitedDomain);
  await untilAllDelivered();
  expect(peer.messages).toHaveLength(3);
});

test("a limit is divided among the live workers with direct delivery, and their sum never exceeds it", async () => {
  const ids = [newId(), newId(), newId()].sort();
  const [first = "", second = "", third = ""] = ids;
  await startWorkers(...ids, newId());
  await world.hot`update workers set beat_at = now() - interval '1 min' where id not in ${world.hot(ids)}`;
  await world.hot`insert into workers (id, host, pid, transport) values (${newId()}, 'elsewhere', 1, 'relay')`;
  await setDestinationLimit(world.deps, limitedDomain, { connectionsMax: 5 });
  await setDestinationLimit(world.deps, "other.example", { connectionsMax: 1 });
  const sharesOf = async (workerId: string) => {
    const names = [limitedDomain, "other.example", "free.example"];
    const rows = await readDestinations(world.hot, { source: "", workerId, names });
    return names.map((name) => {
      const { limit, workers } = rows.get(name) ?? {};
      return limit?.dialogues && workers ? shareOf(limit.dialogues, workers) : null;
    });
  };
  expect(await sharesOf(first)).toEqual([2, 1, null]);
  expect(await sharesOf(second)).toEqual([2, 0, null]);
  expect(await sharesOf(third)).toEqual([1, 0, null]);
});

test("a worker without a share requeues the delivery, and sends it after the worker with the share is gone", async () => {
  const [other = "", own = ""] = [newId(), newId()].sort();
  await startWorkers(other, own);
  await setDestinationLimit(world.deps, limitedDomain, { connectionsMax: 1 });
  const peer = await internet.serve("127.0.0.2");
  await send(limitedDomain, 2);
  start(own);
  await vi.waitFor(async () => expect(await rows()).toMatchObject([WAITING, WAITING]), eventually);
  expect(peer.connections()).toBe(0);
  await world.hot`delete from workers where id = ${other}`;
  await untilAllDelivered();
  expect(peer.messages).toHaveLength(2);
});
