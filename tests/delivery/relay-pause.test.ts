import { expect, test } from "vitest";
import { findRelay } from "#server/services/relays/read";
import { endRelayPause, pauseRelay } from "#server/services/relays/write";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo } from "../support/relays";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "none" }));
const first = forEachTest(() => startSmtpTestServer({ ehlo: EHLO_AUTH }));
const second = forEachTest(() => startSmtpTestServer({ ehlo: EHLO_AUTH }));

const round = () => deliverDue(world.withTransport(null));
const recipientOf = async (id: string) => {
  const { token } = await world.key();
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  return (body as { recipients: Record<string, unknown>[] }).recipients[0];
};

test("a relay that the operator paused is neither used nor tested until it is resumed", async () => {
  await relayTo(world.deps, first, { name: "main" });
  const relay = await findRelay(world.deps, "main");
  await pauseRelay(world.deps, relay, "On a blocklist");
  const { id } = await world.send();
  await round();
  await world.elapse("1 hour");
  await round();
  expect(first.commands).toEqual([]);
  expect(await recipientOf(id)).toMatchObject({ status: "queued", attempts: 0, rule: "relay_paused" });

  await endRelayPause(world.deps, relay);
  await world.elapse("11 min");
  await round();
  expect(await recipientOf(id)).toMatchObject({ status: "sent", attempts: 1 });
});

test("while a relay is paused, its email uses the next one", async () => {
  await relayTo(world.deps, first, { name: "main" });
  await relayTo(world.deps, second, { name: "spare" });
  await pauseRelay(world.deps, await findRelay(world.deps, "main"), "On a blocklist");
  const { id } = await world.send();
  await round();
  expect(await recipientOf(id)).toMatchObject({ status: "sent", relay: "spare" });
  expect(first.commands).toEqual([]);
});
