import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forEachTest } from "../../support/fixtures";
import { createGate } from "../../support/gate";
import {
  killWorkers,
  spawnWorker,
  type WorkerProcess,
  waitForHeartbeats,
} from "../../support/processes/worker-process";
import { type Act, PASS, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld } from "../../support/world";

const eventually = { timeout: 60_000, interval: 20 };
const dialoguesMax = 10;
const inOrder = { code: 0, signal: null };

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
const peer = forEachTest(() =>
  startSmtpTestServer({
    message: async (): Promise<Act> => {
      await answer;
      return PASS;
    },
  }),
);
let answer: Promise<unknown>;
beforeEach(async () => {
  answer = Promise.resolve();
});
afterEach(killWorkers);

const startWorker = async (): Promise<WorkerProcess> => {
  const worker = spawnWorker({ databaseUrl: world.databaseUrl, smtpUrl: `smtp://127.0.0.1:${peer.port}` });
  await waitForHeartbeats(world.hot, [worker]);
  return worker;
};
const sendMails = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => world.send({ to: [`r${n}@example.net`] })));
const countOf = async (status: string) =>
  (await world.hot`select 1 from deliveries where status = ${status}`).length;

test("a worker that stops finishes its dialogues, releases the other claims and deletes its heartbeat", async () => {
  const gate = createGate();
  answer = gate.passed;
  await sendMails(35);
  const worker = await startWorker();
  await vi.waitFor(async () => {
    expect(peer.messages).toHaveLength(dialoguesMax);
    expect(await world.hot`select 1 from queue where lease_token is not null`).toHaveLength(35);
  }, eventually);

  worker.signal("SIGTERM");
  const later = await world.send({ to: ["later@example.net"] });
  await vi.waitFor(() => expect(worker.output()).toContain("worker.stopping"), eventually);
  expect(worker.hasExited()).toBe(false);
  gate.open();
  expect(await worker.exited).toEqual(inOrder);

  expect(peer.messages).toHaveLength(dialoguesMax);
  expect(await countOf("sent")).toBe(dialoguesMax);
  const back = await world.hot`
    select 1 from queue where attempts = 0 and lapses = 0 and stage = 'idle' and lease_token is null and due_at <= now()`;
  expect(back).toHaveLength(35 - dialoguesMax + 1);
  expect((await world.email(later.id)).deliveries[0]?.attempts).toBe(0);
  expect(await world.hot`select 1 from workers`).toHaveLength(0);
  expect(peer.open()).toBe(0);
});
