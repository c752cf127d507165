import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { createTeam } from "#server/services/teams";
import { relayTo } from "../support/relays";
import { HANG, type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

const eventually = { timeout: 60_000, interval: 50 };

let world: World;
let tarpit: SmtpTestServer;
let quick: SmtpTestServer;
beforeEach(async () => {
  world = await createWorld({ transportKind: "none" });
  tarpit = await startSmtpTestServer({ mail: HANG });
  quick = await startSmtpTestServer();
});
afterEach(async () => {
  await tarpit.close();
  await quick.close();
  await world.close();
});

test("a team's relay that does not respond does not delay other teams' email", async () => {
  await relayTo(world.deps, tarpit, { teamId: world.ctx.teamId });
  const other = await createTeam(world.deps, { name: "Other" });
  await relayTo(world.deps, quick, { teamId: other.id });
  await Promise.all(Array.from({ length: 60 }, () => world.send()));
  await world.hot`
    insert into domains (id, team_id, name, status) values (gen_random_uuid(), ${other.id}, 'other.example', 'verified')`;
  const theirs = await Promise.all(
    Array.from({ length: 20 }, () =>
      world.send({ sender: "Bo <bo@other.example>" }, { ...world.ctx, teamId: other.id }),
    ),
  );

  const engine = createEngine(world.withTransport(null), { dialoguesMax: 4 });
  await vi.waitFor(async () => {
    await engine.pump();
    expect(quick.messages).toHaveLength(theirs.length);
  }, eventually);
  // The silent relay never used more than half of the four slots.
  expect(tarpit.connections()).toBeLessThanOrEqual(2);
  await engine.drain(0);
});
