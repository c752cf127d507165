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

/*
 * The only test that waits for a lease in real time: a worker detects the end of its lease by its own clock.
 */

const leaseSeconds = 10;
const eventually = { timeout: 60_000, interval: 50 };
const afterTheLease = { timeout: 120_000, interval: 200 };

let gate: ReturnType<typeof createGate>;
let frozenDataCommands = 0;
const world = forEachTest(() => createWorld({ transportKind: "relay" }));
const peer = forEachTest(() =>
  startSmtpTestServer({
    // The worker of the first connection freezes: its DATA gets no reply before the end of the test.
    data: async ({ connection }): Promise<Act> => {
      if (connection > 1) return PASS;
      frozenDataCommands += 1;
      await gate.passed;
      return PASS;
    },
  }),
);
beforeEach(async () => {
  gate = createGate();
  frozenDataCommands = 0;
});
afterEach(killWorkers);

const startWorker = async (): Promise<WorkerProcess> => {
  const worker = spawnWorker({
    databaseUrl: world.databaseUrl,
    smtpUrl: `smtp://127.0.0.1:${peer.port}`,
    env: { BACKSTAMP_TIME_LIMITS: `lease=${leaseSeconds}` },
  });
  await waitForHeartbeats(world.hot, [worker]);
  return worker;
};

test("a worker that was frozen for longer than its lease does not send the final dot", {
  timeout: 240_000,
}, async () => {
  const { id } = await world.send({ to: ["ann@example.net"] });
  const frozen = await startWorker();
  await vi.waitFor(() => expect(frozenDataCommands).toBe(1), eventually);
  frozen.signal("SIGSTOP");

  const second = await startWorker();
  await vi.waitFor(async () => expect((await world.email(id)).status).toBe("sent"), afterTheLease);
  second.signal("SIGTERM");
  expect(await second.exited).toEqual({ code: 0, signal: null });
  const settled = await world.email(id);
  expect(settled.events.map(({ type }) => type)).toEqual(["email.queued", "email.unknown", "email.sent"]);

  frozen.signal("SIGCONT");
  gate.open();
  await vi.waitFor(() => expect(frozen.output()).toContain("delivery.lease_lost"), eventually);
  expect(peer.messages.map(({ to }) => to)).toEqual([["ann@example.net"]]);
  expect(await world.email(id)).toEqual(settled);
});
