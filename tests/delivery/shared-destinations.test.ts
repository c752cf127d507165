import { afterEach, expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { createEngine } from "#server/delivery/engine";
import { deleteOldRecords } from "#server/delivery/housekeeping/old-records";
import { newId } from "#server/platform/ids";
import { addDestinationHost } from "#server/services/destinations/hosts";
import { listDestinations } from "#server/services/destinations/list";
import { forEachTest } from "../support/fixtures";
import { pumpEngine } from "../support/pump-engine";
import { type Act, PASS, type SmtpScript } from "../support/servers/smtp-test-server";
import { startTestInternet, type Zone } from "../support/servers/test-internet";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };
const domains = Array.from({ length: 7 }, (_, n) => `d${n}.example`);
const zone: Zone = {
  "mx1.big.example": { a: ["127.0.0.2"] },
  "mx2.big.example": { a: ["127.0.0.2"] },
  "mx.free.example": { a: ["127.0.0.3"] },
  "free.example": { mx: [[10, "mx.free.example"]] },
};
for (const [n, domain] of domains.entries()) zone[domain] = { mx: [[10, `mx${(n % 2) + 1}.big.example`]] };
const source = "sender.test";

const world = forEachTest(() => createWorld({ transportKind: "direct" }));
const internet = forEachTest(() => startTestInternet(zone));
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A worker with its own connections to the database and its own heartbeat, like a process. */
async function startWorker(name = source): Promise<() => Promise<void>> {
  const workerId = newId();
  const database = openDatabase(world.databaseUrl, { connectionsMax: 6 });
  await world.hot`insert into workers (id, host, pid, transport) values (${workerId}, 'here', 1, 'direct')`;
  const deps = { ...world.withTransport(internet.transport({}, { name })), hot: database.hot };
  const engine = createEngine(deps, { dialoguesMax: 10, workerId });
  const stopPumping = pumpEngine(engine);
  const stop = async () => {
    stops.splice(stops.indexOf(stop), 1);
    await stopPumping();
    await engine.drain(1_000);
    await world.hot`delete from workers where id = ${workerId}`;
    await database.close();
  };
  stops.push(stop);
  return stop;
}

const send = async (to: string[], options: { priority?: "high" | "low" } = {}) => {
  for (const address of to) await world.send({ to: [address], ...options });
};
const everyDomain = (name: string) => domains.map((domain) => `${name}@${domain}`);
const serveBig = (script: SmtpScript = {}) => internet.serve("127.0.0.2", script);

type Row = { address: string; status: string; rule: string | null; waits: boolean; isLeased: boolean };
const rows = () => world.hot<Row[]>`
  select d.address, d.status, d.wait_rule as rule, d.due_at > now() as waits, q.lease_token is not null as "isLeased"
  from deliveries d left join queue q using (id) order by d.id`;

/** No dialogue is in progress, and everything in the queue waits for a later time. */
const untilAllWait = (rule?: string) =>
  vi.waitFor(async () => {
    for (const row of await rows()) {
      if (row.status !== "queued") continue;
      expect(row).toMatchObject({ waits: true, isLeased: false });
      if (rule && row.rule !== "retry_schedule") expect(row.rule).toBe(rule);
    }
  }, eventually);

const stateOf = async (destination: string) =>
  (await listDestinations(world.deps)).find((state) => state.destination === destination);

/** Ends the block as if its time was over; the due times of what waits stay far in the future. */
async function recover(change: { connections: number }): Promise<void> {
  await world.hot`update queue set due_at = now() + interval '1 hour' where lease_token is null`;
  await world.hot`
    update destination_states set blocked_until = now(), per_minute = null, connections = ${change.connections},
      accepted = 5000`;
}

test("after 421 to a few connections, no domain of the same provider and no other worker opens more", async () => {
  const big = await serveBig({ greeting: { bye: "421 4.7.0 Too many connections from 203.0.113.9" } });
  const free = await internet.serve("127.0.0.3");
  await send(everyDomain("one"));
  await send(everyDomain("two"));
  const stopFirst = await startWorker();
  await untilAllWait("destination_throttled");
  const connected = big.connections();
  expect(connected).toBeGreaterThan(0);
  expect(connected).toBeLessThanOrEqual(2);
  expect(await stateOf("big.example")).toMatchObject({
    source,
    connections: 1,
    reason: "objection",
    reply: expect.stringMatching(/^421 4\.7\.0 Too many connections/),
    blockedUntil: expect.any(Date),
    waiting: 14 - connected,
  });

  // Another worker, and one that starts after the first has ended.
  await startWorker();
  await send(everyDomain("three"));
  await send(["ann@free.example"]);
  await untilAllWait("destination_throttled");
  await stopFirst();
  await startWorker();
  await send(everyDomain("four"));
  await untilAllWait("destination_throttled");
  expect(big.connections()).toBe(connected);
  await vi.waitFor(() => expect(free.messages).toHaveLength(1), eventually);
});

test("another sending address is not affected", async () => {
  const big = await serveBig({ mail: ({ nth }): Act => (nth === 0 ? "451 4.7.651 Rate limited" : PASS) });
  await send(["ann@d0.example"]);
  const stop = await startWorker();
  await untilAllWait();
  await stop();
  await send(["ben@d1.example"]);
  await startWorker("other.test");
  await vi.waitFor(() => expect(big.messages).toHaveLength(1), eventually);
});

test.each([
  "451 4.7.650 The mail server [203.0.113.9] has been temporarily rate limited due to IP reputation.",
  "451 4.7.500 Server busy. Please try again later from [203.0.113.9].",
  "451 Message temporarily deferred - [160]",
])("%s is followed by no more than the dialogues that had started", async (reply) => {
  const big = await serveBig({ mail: reply });
  for (const name of ["one", "two", "three"]) await send(everyDomain(name));
  await startWorker();
  await untilAllWait();
  expect(big.commands.filter((command) => command.startsWith("MAIL")).length).toBeLessThanOrEqual(2);
});

test("a mailbox that receives too much delays its own email, and thirty others are delivered at once", async () => {
  const busy =
    "450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages";
  const big = await serveBig({ rcpt: ({ address }): Act => (address.startsWith("busy") ? busy : PASS) });
  await send(["busy@d0.example", ...Array.from({ length: 30 }, (_, n) => `r${n}@d0.example`)]);
  await startWorker();
  await vi.waitFor(() => expect(big.messages).toHaveLength(30), eventually);
  await untilAllWait();
  expect((await rows())[0]).toMatchObject({ status: "queued", rule: "retry_schedule" });
});

test("what waits is sent when the limits recover, before it is due, and high priority first", async () => {
  const big = await serveBig({ mail: ({ nth }): Act => (nth < 2 ? "421 4.7.0 Try again later" : PASS) });
  await send(everyDomain("low"), { priority: "low" });
  await send(everyDomain("low2"), { priority: "low" });
  await startWorker();
  await untilAllWait("destination_throttled");
  await send(["high@d6.example"], { priority: "high" });
  await untilAllWait("destination_throttled");
  const waiting = (await stateOf("big.example"))?.waiting ?? 0;
  await recover({ connections: 1 });
  await vi.waitFor(() => expect(big.messages).toHaveLength(waiting), eventually);
  expect(big.messages[0]?.to).toEqual(["high@d6.example"]);
  expect((await stateOf("big.example"))?.waiting).toBe(0);
});

test("MX hosts that the operator adds belong to the destination, and what it accepts is counted", async () => {
  await addDestinationHost(world.deps, { host: "free.example", destination: "big.example" });
  await internet.serve("127.0.0.3");
  await send(["ann@free.example", "ben@free.example"]);
  const stop = await startWorker();
  await vi.waitFor(
    async () => expect((await rows()).map(({ status }) => status)).toEqual(["delivered", "delivered"]),
    eventually,
  );
  await stop();
  expect(await listDestinations(world.deps)).toMatchObject([
    { destination: "big.example", source, accepted: 2, reason: "new", blockedUntil: null, waiting: 0 },
  ]);
});

test("states that no worker changed for 90 days are deleted", async () => {
  await world.hot`
    insert into destination_states (source, destination, connections, updated_at)
    values ('', 'old.example', 2, now() - interval '91 days'), ('', 'new.example', 2, now() - interval '89 days')`;
  await deleteOldRecords(world.deps, () => true);
  expect(await listDestinations(world.deps)).toMatchObject([{ destination: "new.example" }]);
});
