import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listRelays } from "#server/services/relays/read";
import { killWorkers, spawnWorker, waitForHeartbeats } from "../../support/processes/worker-process";
import { relayTo } from "../../support/relays";
import { EHLO_AUTH, type SmtpTestServer, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";

const eventually = { timeout: 60_000, interval: 50 };
/** The secret of the worker processes. */
const secret = "the secret of two workers in a test";

let world: World;
let peer: SmtpTestServer;
let hasSuccess = false;
beforeEach(async () => {
  hasSuccess = false;
  world = await createWorld({ transportKind: "none", secret });
  peer = await startSmtpTestServer({
    ehlo: EHLO_AUTH,
    auth: () => (hasSuccess ? "235 2.7.0 welcome" : "535 5.7.8 bad credentials"),
  });
});
afterEach(async () => {
  await killWorkers();
  await peer.close();
  await world.close();
});

test("two workers share the state of a relay: a rejected login is retried once a minute by both together", {
  timeout: 240_000,
}, async () => {
  await relayTo(world.deps, peer, { login: "user:pass@" });
  const total = 40;
  await Promise.all(Array.from({ length: total }, () => world.send()));
  const settings = { databaseUrl: world.databaseUrl, smtpUrl: "", env: { BACKSTAMP_SECRET: secret } };
  const workers = [spawnWorker(settings), spawnWorker(settings)];
  await waitForHeartbeats(world.hot, workers);
  const logins = () => peer.commands.filter((line) => line.startsWith("AUTH")).length;
  const countOf = async (status: string, rule: string | null) =>
    (
      await world.hot`
        select from deliveries where status = ${status} and wait_rule is not distinct from ${rule}`
    ).length;
  await vi.waitFor(async () => expect(await countOf("queued", "relay_paused")).toBe(total), eventually);
  // If both started at the same moment, each may have tried the login once.
  const atFirst = logins();
  expect(atFirst).toBeLessThanOrEqual(workers.length);

  await world.hot`update relays set paused_until = now(), last_fault_at = null`;
  await vi.waitFor(async () => {
    const [relay] = await listRelays(world.deps);
    expect(relay).toMatchObject({ isPaused: true, lastFaultAt: expect.any(Date) });
  }, eventually);
  expect(logins()).toBe(atFirst + 1);
  expect(peer.messages).toHaveLength(0);

  hasSuccess = true;
  await world.hot`update relays set paused_until = now()`;
  await vi.waitFor(async () => {
    await world.hot`update deliveries set due_at = now() where status = 'queued'`;
    expect(await countOf("sent", null)).toBe(total);
  }, eventually);
  expect(peer.messages).toHaveLength(total);
  const output = workers.map((worker) => worker.output()).join("");
  expect(output).toContain('"relay.paused"');
  expect(output).toContain('"relay.resumed"');
});
