import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listRelays } from "#server/services/relays/read";
import { createVault } from "#server/vault";
import { type House, openHouse } from "../support/house";
import { relayTo } from "../support/relays";
import { EHLO_AUTH, type FaultPeer, startFaultPeer } from "../support/smtp-peer";
import { killWorkers, spawnWorker, waitForBeats } from "../support/worker-process";

const eventually = { timeout: 60_000, interval: 50 };
/** That of the processes, which is not the house's. */
const secret = "the secret of two workers in a test";

let house: House;
let peer: FaultPeer;
let isWell = false;
beforeEach(async () => {
  isWell = false;
  house = await openHouse({ transportKind: "none" });
  peer = await startFaultPeer({
    ehlo: EHLO_AUTH,
    auth: () => (isWell ? "235 2.7.0 welcome" : "535 5.7.8 bad credentials"),
  });
});
afterEach(async () => {
  await killWorkers();
  await peer.close();
  await house.close();
});

test("two workers share what they know of a relay: a refused login is tried once a minute by both together", {
  timeout: 240_000,
}, async () => {
  await relayTo({ ...house.deps, vault: createVault(secret) }, peer, { login: "user:pass@" });
  const total = 40;
  await Promise.all(Array.from({ length: total }, () => house.send()));
  const settings = { databaseUrl: house.url, smtpUrl: "", env: { POSTHORN_SECRET: secret } };
  const workers = [spawnWorker(settings), spawnWorker(settings)];
  await waitForBeats(house.hot, workers);
  const logins = () => peer.commands.filter((line) => line.startsWith("AUTH")).length;
  const countOf = async (status: string, rule: string | null) =>
    (
      await house.hot`
        select from deliveries where status = ${status} and wait_rule is not distinct from ${rule}`
    ).length;
  await vi.waitFor(async () => expect(await countOf("queued", "relay_paused")).toBe(total), eventually);
  // Each may have found out by itself, where both began at the same moment.
  const atFirst = logins();
  expect(atFirst).toBeLessThanOrEqual(workers.length);

  await house.hot`update relays set paused_until = now(), last_fault_at = null`;
  await vi.waitFor(async () => {
    const [relay] = await listRelays(house.deps);
    expect(relay).toMatchObject({ isPaused: true, lastFaultAt: expect.any(Date) });
  }, eventually);
  expect(logins()).toBe(atFirst + 1);
  expect(peer.messages).toHaveLength(0);

  isWell = true;
  await house.hot`update relays set paused_until = now()`;
  await vi.waitFor(async () => {
    await house.hot`update deliveries set due_at = now() where status = 'queued'`;
    expect(await countOf("sent", null)).toBe(total);
  }, eventually);
  expect(peer.messages).toHaveLength(total);
  const said = workers.map((worker) => worker.output()).join("");
  expect(said).toContain('"relay.paused"');
  expect(said).toContain('"relay.resumed"');
});
