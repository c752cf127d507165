import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  killWorkers,
  spawnWorker,
  type WorkerProcess,
  waitForHeartbeats,
} from "../../support/processes/worker-process";
import {
  type Act,
  PASS,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";

const eventually = { timeout: 60_000, interval: 20 };
/** Connections of a worker, one dialogue at a time each. */
const dialoguesMax = 10;
const waitingCount = 5;

let world: World;
let peer: SmtpTestServer;
let release: () => void;
/** Replies to messages on connections up to this one wait for `release`. */
let heldConnectionsMax: number;
beforeEach(async () => {
  world = await createWorld({ transportKind: "relay" });
  heldConnectionsMax = Number.POSITIVE_INFINITY;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  peer = await startSmtpTestServer({
    message: async ({ connection }): Promise<Act> => {
      if (connection <= heldConnectionsMax) await released;
      return PASS;
    },
  });
});
afterEach(async () => {
  await killWorkers();
  await peer.close();
  await world.close();
});

const startWorker = async (): Promise<WorkerProcess> => {
  const worker = spawnWorker({ databaseUrl: world.databaseUrl, smtpUrl: `smtp://127.0.0.1:${peer.port}` });
  await waitForHeartbeats(world.hot, [worker]);
  return worker;
};

const messageIdOf = (bytes: Buffer) => /^Message-ID: (.*)$/im.exec(bytes.toString())?.[1];
const copiesOf = (address: string) => peer.messages.filter(({ to }) => to.includes(address));
const stages = () =>
  world.hot<{ stage: string; count: number }[]>`
    select stage, count(*)::int as count from deliveries group by stage order by stage`;
const everything = async () => ({
  deliveries: await world.hot`select * from deliveries order by id`,
  events: await world.hot`select * from email_events order by email_id, id`,
  emails: await world.hot`select * from emails order by id`,
});
const unknownsOf = (address: string) =>
  world.hot`select 1 from email_events where type = 'email.unknown' and recipient = ${address}`;

test("results of a frozen worker change nothing after another worker has the lease, and it starts no attempt", async () => {
  const addresses = Array.from({ length: dialoguesMax + waitingCount }, (_, n) => `r${n}@example.net`);
  for (const address of addresses) await world.send({ to: [address] });
  const frozen = await startWorker();
  await vi.waitFor(async () => {
    expect(peer.messages).toHaveLength(dialoguesMax);
    expect(await stages()).toEqual([
      { stage: "claimed", count: waitingCount },
      { stage: "handed_over", count: dialoguesMax },
    ]);
  }, eventually);
  frozen.signal("SIGSTOP");
  heldConnectionsMax = peer.connections();
  await world.elapse("61 seconds");

  const second = await startWorker();
  await vi.waitFor(
    async () => expect(await world.hot`select 1 from deliveries where status <> 'sent'`).toHaveLength(0),
    eventually,
  );
  second.signal("SIGTERM");
  expect(await second.exited).toEqual({ code: 0, signal: null });
  const settled = await everything();

  frozen.signal("SIGCONT");
  release();
  // Dialogue slots are assigned in order, so all old claims were checked before the new email.
  await vi.waitFor(
    () => expect(frozen.output().match(/delivery\.lease_lost/g)).toHaveLength(dialoguesMax),
    eventually,
  );
  const later = await world.send({ to: ["later@example.net"] });
  await vi.waitFor(async () => expect((await world.email(later.id)).status).toBe("sent"), eventually);

  const after = await everything();
  const isOld = (row: { email_id?: unknown; id?: unknown }) => (row.email_id ?? row.id) !== later.id;
  expect(after.deliveries.filter(isOld)).toEqual(settled.deliveries);
  expect(after.events.filter(isOld)).toEqual(settled.events);
  expect(after.emails.filter(isOld)).toEqual(settled.emails);
  for (const address of addresses) {
    const copies = copiesOf(address);
    expect(copies, address).toHaveLength(1 + (await unknownsOf(address)).length);
    expect(new Set(copies.map(({ bytes }) => messageIdOf(bytes))).size).toBe(1);
  }
  expect(await world.hot`select 1 from email_events where type = 'email.unknown'`).toHaveLength(dialoguesMax);
});
