import { beforeEach, expect, test } from "vitest";
import type { WorkerDeps } from "#server/deps";
import { createQueryDns } from "#server/mail/dns/dns";
import { createOutside } from "#server/platform/egress/outside";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo } from "../support/relays";
import { startDnsTestServer } from "../support/servers/dns-test-server";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "none" }));
const peer = forEachTest(() => startSmtpTestServer());
const dns = forEachTest(() =>
  startDnsTestServer(({ name, type }, nth) => {
    if (name !== "relay.example") return null;
    if (type !== "A") return {};
    return { answers: addresses(nth).map((data) => ({ name, type: "A" as const, ttl: 0, data })) };
  }),
);
/** Addresses of relay.example, by number of the query. */
let addresses: (nth: number) => string[];

beforeEach(async () => {
  addresses = () => ["127.0.0.1"];
});

/** Delivers with a worker that may also connect to these networks. */
async function round(allow: string[]): Promise<void> {
  const outside = createOutside({ allow });
  const deps: WorkerDeps = { ...world.withTransport(null), outside, dns: createQueryDns([dns]) };
  await deliverDue(deps);
  await outside.close();
}

const named = () => ({ url: `smtp://relay.example:${peer.port}` });
const reasonOf = async (id: string) => (await world.email(id)).deliveries[0]?.lastReason;

test("a team's relay at an internal address is not connected to, given as address or as name", async () => {
  const { teamId } = world.ctx;
  await relayTo(world.deps, peer, { teamId });
  await relayTo(world.deps, peer, { name: "by name", teamId, ...named() });
  const { id } = await world.send();
  await round([]);
  expect(peer.connections()).toBe(0);
  expect(await reasonOf(id)).toContain("does not resolve to public IP addresses only");
  expect((await world.email(id)).deliveries[0]).toMatchObject({ status: "queued", waitRule: "relay_paused" });
});

test("a relay in an allowed network is connected to, and the operator's relay may have any address", async () => {
  await relayTo(world.deps, peer);
  await world.send();
  await round([]);
  expect(peer.messages).toHaveLength(1);
  await relayTo(world.deps, peer, { name: "a team's", teamId: world.ctx.teamId, ...named() });
  await world.send();
  await round(["127.0.0.0/8"]);
  expect(peer.messages).toHaveLength(2);
});

test("a single internal address among others blocks a team's relay", async () => {
  addresses = () => ["127.0.0.1", "127.0.0.2"];
  await relayTo(world.deps, peer, { teamId: world.ctx.teamId, ...named() });
  const { id } = await world.send();
  await round(["127.0.0.1/32"]);
  expect(peer.connections()).toBe(0);
  expect(await reasonOf(id)).toContain("relay.example");
});

test("a connection uses the address that was checked: the name is not resolved again", async () => {
  addresses = (nth) => (nth === 1 ? ["127.0.0.1"] : ["10.0.0.1"]);
  await relayTo(world.deps, peer, { teamId: world.ctx.teamId, ...named() });
  await world.send();
  await round(["127.0.0.0/8"]);
  expect(peer.messages).toHaveLength(1);
  expect(dns.asked.filter(({ type }) => type === "A")).toHaveLength(1);
});

test("the next address of a relay's name is tried if the connection to the first is refused", async () => {
  addresses = () => ["127.0.0.9", "127.0.0.1"];
  await relayTo(world.deps, peer, { teamId: world.ctx.teamId, ...named() });
  const { id } = await world.send();
  await round(["127.0.0.0/8"]);
  expect((await world.email(id)).status).toBe("sent");
});
