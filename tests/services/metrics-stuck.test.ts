import { expect, test } from "vitest";
import { countNewEvents } from "#server/delivery/housekeeping/count-events";
import { createWorld } from "../support/world";

test("a team that cannot be counted does not stop the counts of the others", async () => {
  const world = await createWorld();
  const { hot } = world;
  const other = await world.otherTeam();
  await other.domain("other.example", { verified: true });
  await world.send();
  await world.send({ sender: "ann@other.example" }, other.ctx);
  await hot.unsafe(`alter table recipient_counts add constraint stuck check (team_id <> '${world.id}')`);
  const countedTeams = async () => {
    await countNewEvents(world.withTransport(), () => true);
    return (await hot`select distinct team_id as id from recipient_counts order by 1`).map(({ id }) => id);
  };
  // The counts follow the feed, which waits for open transactions of other tests in the cluster.
  await expect.poll(countedTeams, { timeout: 20_000 }).toEqual([other.id]);
  await hot`alter table recipient_counts drop constraint stuck`;
  await expect.poll(countedTeams, { timeout: 20_000 }).toEqual([world.id, other.id].sort());
  await world.close();
});
