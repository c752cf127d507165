import { expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { relayTo } from "../support/relays";
import { HANG, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 50 };

const world = forEachTest(() => createWorld({ transportKind: "none" }));
const tarpit = forEachTest(() => startSmtpTestServer({ mail: HANG }));
const quick = forEachTest(() => startSmtpTestServer());

test("a team's relay that does not respond does not delay other teams' email", async () => {
  await relayTo(world.deps, tarpit, { teamId: world.ctx.teamId });
  const other = await world.otherTeam();
  await other.domain("other.example");
  await relayTo(world.deps, quick, { teamId: other.id });
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: 60 });
  await queueMany(world.hot, { teamId: other.id, domain: "other.example", count: 20 });

  const engine = createEngine(world.withTransport(null), { dialoguesMax: 4 });
  await vi.waitFor(async () => {
    await engine.pump();
    expect(quick.messages).toHaveLength(20);
  }, eventually);
  // The silent relay never used more than half of the four slots.
  expect(tarpit.connections()).toBeLessThanOrEqual(2);
  await engine.drain(0);
});
