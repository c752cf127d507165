import { expect, test } from "vitest";
import { getReadiness } from "#server/services/health";
import { findRelay } from "#server/services/relays/read";
import { addRelay, endRelayPause, pauseRelay, removeRelay, updateRelay } from "#server/services/relays/write";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo, transportTo } from "../support/relays";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

/* A relay carries email only while its last test succeeded. */

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
/** Accepts only the password "right". */
const right = Buffer.from("\0user\0right").toString("base64");
const peer = forEachTest(() =>
  startSmtpTestServer({
    ehlo: EHLO_AUTH,
    auth: ({ line }) => (line.includes(right) ? "235 welcome" : "535 5.7.8 bad credentials"),
  }),
);
const former = forEachTest(() => startSmtpTestServer());

const url = (password: string) => `smtp://user:${password}@127.0.0.1:${peer.port}`;
const add = (password: string) =>
  addRelay(world.deps, { name: "main", teamId: null, domainId: null, url: url(password) });

/** A round of a worker whose `SMTP_URL` is the former server. */
async function round(): Promise<void> {
  const transport = transportTo(former);
  await deliverDue(world.withTransport(transport));
  await transport.close();
}

test("a new relay carries no email until a login succeeded; until then email is sent as before", async () => {
  const relay = await add("wrong");
  expect(relay).toMatchObject({ state: "untested" });
  await world.send();
  await round();
  expect(former.messages).toHaveLength(1);
  expect(await findRelay(world.deps, "main")).toMatchObject({
    state: "failing",
    lastFault: expect.stringContaining("535"),
  });
  const { alarms } = (await getReadiness(world.deps)) as { alarms: { alarm: string }[] };
  expect(alarms.map(({ alarm }) => alarm)).not.toContain("relays_paused");

  await updateRelay(world.deps, relay, { url: url("right") });
  expect(await findRelay(world.deps, "main")).toMatchObject({ state: "untested", lastFault: null });
  await world.send();
  await round();
  expect([former.messages.length, peer.messages.length]).toEqual([1, 1]);
  expect(await findRelay(world.deps, "main")).toMatchObject({ state: "healthy" });
});

test("a relay with a changed login is tested before it carries email again, also after a pause", async () => {
  const relay = await add("right");
  await round();
  await pauseRelay(world.deps, relay, "New password");
  await updateRelay(world.deps, relay, { url: url("wrong") });
  await endRelayPause(world.deps, relay);
  const { id } = await world.send();
  await round();
  expect(peer.messages).toHaveLength(0);
  // Its scope keeps its servers: email waits for them, and does not leave through SMTP_URL.
  expect(former.messages).toHaveLength(0);
  expect((await world.email(id)).deliveries[0]).toMatchObject({ waitRule: "relay_paused", attempts: 0 });
  await expect(endRelayPause(world.deps, relay)).rejects.toThrow(/test/);
});

test.each([
  ["removed", removeRelay],
  ["resumed", endRelayPause],
] as const)("email that waits for a paused relay is due as soon as the relay is %s", async (what, act) => {
  const relay = await relayTo(world.deps, peer, { login: "user:right@" });
  await pauseRelay(world.deps, relay, "On a blocklist");
  const { id } = await world.send();
  await round();
  const waiting = async () => (await world.email(id)).deliveries[0]?.waitRule;
  expect(await waiting()).toBe("relay_paused");
  await act(world.deps, relay);
  expect(await waiting()).toBeNull();
  await round();
  expect((await world.email(id)).status).toBe("sent");
  expect(former.messages).toHaveLength(what === "removed" ? 1 : 0);
});
