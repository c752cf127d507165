import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type House, openHouse } from "../support/house";
import { type Act, type FaultPeer, PASS, startFaultPeer } from "../support/smtp-peer";
import { killWorkers, spawnWorker, type WorkerProcess, waitForBeats } from "../support/worker-process";

const eventually = { timeout: 60_000, interval: 20 };
/** Connections of a worker, one dialogue at a time each. */
const dialoguesMax = 10;
const waitingCount = 5;

let house: House;
let peer: FaultPeer;
let release: () => void;
/** Replies to messages on connections up to this one wait for `release`. */
let heldConnectionsMax: number;
beforeEach(async () => {
  house = await openHouse({ transportKind: "relay" });
  heldConnectionsMax = Number.POSITIVE_INFINITY;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  peer = await startFaultPeer({
    message: async ({ connection }): Promise<Act> => {
      if (connection <= heldConnectionsMax) await released;
      return PASS;
    },
  });
});
afterEach(async () => {
  await killWorkers();
  await peer.close();
  await house.close();
});

const startWorker = async (): Promise<WorkerProcess> => {
  const worker = spawnWorker({ databaseUrl: house.url, smtpUrl: `smtp://127.0.0.1:${peer.port}` });
  await waitForBeats(house.hot, [worker]);
  return worker;
};

const messageIdOf = (bytes: Buffer) => /^Message-ID: (.*)$/im.exec(bytes.toString())?.[1];
const copiesOf = (address: string) => peer.messages.filter(({ to }) => to.includes(address));
const stages = () =>
  house.hot<{ stage: string; count: number }[]>`
    select stage, count(*)::int as count from deliveries group by stage order by stage`;
const everything = async () => ({
  deliveries: await house.hot`select * from deliveries order by id`,
  events: await house.hot`select * from email_events order by email_id, id`,
  emails: await house.hot`select * from emails order by id`,
});
const unknownsOf = (address: string) =>
  house.hot`select 1 from email_events where type = 'email.unknown' and recipient = ${address}`;

test("results of a frozen worker change nothing after another worker has the lease, and it starts no attempt", async () => {
  const addresses = Array.from({ length: dialoguesMax + waitingCount }, (_, n) => `r${n}@example.net`);
  for (const address of addresses) await house.send({ to: [address] });
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
  await house.elapse(61_000);

  const second = await startWorker();
  await vi.waitFor(
    async () => expect(await house.hot`select 1 from deliveries where status <> 'sent'`).toHaveLength(0),
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
  const later = await house.send({ to: ["later@example.net"] });
  await vi.waitFor(async () => expect((await house.email(later.id)).status).toBe("sent"), eventually);

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
  expect(await house.hot`select 1 from email_events where type = 'email.unknown'`).toHaveLength(dialoguesMax);
});
