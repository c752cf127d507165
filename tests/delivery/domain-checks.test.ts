import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { startWorker } from "#server/delivery/worker";
import type { DnsTestServer } from "../support/servers/dns-test-server";
import { type Listed, publish, startZone, type Zone } from "../support/servers/zone";
import { createWorld, type World } from "../support/world";

let world: World;
let zone: Zone;
let peer: DnsTestServer;
let token: string;
beforeEach(async () => {
  ({ zone, peer } = await startZone());
  world = await createWorld({ dnsServers: [peer] });
  ({ token } = await world.key());
});
afterEach(() => world.close());
afterEach(() => zone.clear());
afterAll(() => peer.close());

type Domain = { id: string; records: Listed[] };
const api = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
  (await world.api(method, path, { token, ...(body && { body }) })).body;
const statusOf = async ({ id }: Domain) => (await api("GET", `/api/domains/${id}`)).status;

/** A domain whose records were published after its first check, and whose next check is due. */
async function dueDomain(): Promise<Domain> {
  const domain = (await api("POST", "/api/domains", { name: "due.example" })) as unknown as Domain;
  expect((await api("POST", `/api/domains/${domain.id}/verify`)).status).toBe("pending");
  publish(zone, domain.records);
  await world.elapse("1 min");
  return domain;
}

test("a worker checks due domains", async () => {
  const domain = await dueDomain();
  const worker = await startWorker({ ...world.deps, transport: null });
  await expect.poll(() => statusOf(domain), { timeout: 30_000 }).toBe("verified");
  await worker.stop();
});

test("a worker that stops aborts its check, and the aborted check changes nothing", async () => {
  const domain = await dueDomain();
  const before = await api("GET", `/api/domains/${domain.id}`);
  for (const { host } of domain.records) zone.fail(host, { silent: true });
  const asked = peer.asked.length;
  const worker = await startWorker({ ...world.deps, transport: null });
  await expect.poll(() => peer.asked.length, { timeout: 30_000 }).toBeGreaterThan(asked);
  await worker.stop();
  const after = await api("GET", `/api/domains/${domain.id}`);
  expect(after.last_checked_at).toBe(before.last_checked_at);
  expect(after.records).toEqual(before.records);
  for (const { host } of domain.records) zone.fail(host, null);
  await world.elapse("2 min");
  await tick({ ...world.deps, transport: null }, { budgetMs: 30_000 });
  expect(await statusOf(domain)).toBe("verified");
});
