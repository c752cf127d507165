import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { createTeam } from "#server/services/teams";
import { type House, openHouse } from "../support/house";
import { relayTo } from "../support/relays";
import { type FaultPeer, HANG, startFaultPeer } from "../support/smtp-peer";

const eventually = { timeout: 60_000, interval: 50 };

let house: House;
let tarpit: FaultPeer;
let quick: FaultPeer;
beforeEach(async () => {
  house = await openHouse({ transportKind: "none" });
  tarpit = await startFaultPeer({ mail: HANG });
  quick = await startFaultPeer();
});
afterEach(async () => {
  await tarpit.close();
  await quick.close();
  await house.close();
});

test("a team's relay that does not respond does not delay other teams' email", async () => {
  await relayTo(house.deps, tarpit, { teamId: house.ctx.teamId });
  const other = await createTeam(house.deps, { name: "Other" });
  await relayTo(house.deps, quick, { teamId: other.id });
  await Promise.all(Array.from({ length: 60 }, () => house.send()));
  await house.hot`
    insert into domains (id, team_id, name, status) values (gen_random_uuid(), ${other.id}, 'other.example', 'verified')`;
  const theirs = await Promise.all(
    Array.from({ length: 20 }, () =>
      house.send({ sender: "Bo <bo@other.example>" }, { ...house.ctx, teamId: other.id }),
    ),
  );

  const engine = createEngine(house.withTransport(null), { dialoguesMax: 4 });
  await vi.waitFor(async () => {
    await engine.pump();
    expect(quick.messages).toHaveLength(theirs.length);
  }, eventually);
  // The silent relay never used more than half of the four slots.
  expect(tarpit.connections()).toBeLessThanOrEqual(2);
  await engine.drain(0);
});
