import { expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const address = (...args: string[]) =>
  runCommand(["address", ...args], { env: { DATABASE_URL: world.databaseUrl } });

test("an erasure is requested in all teams, also if it fails in one or one is deleted meanwhile", async () => {
  const failing = await world.otherTeam("Failing");
  const deleted = await world.otherTeam("Deleted");
  const last = await world.otherTeam("Last");
  await world.hot.unsafe(`
    create function fail_in_team() returns trigger language plpgsql as $$ begin
      if new.team_id = '${failing.id}' then raise exception 'fault with ann@example.net'; end if;
      if new.team_id = '${deleted.id}' then raise exception 'no team' using errcode = '23503'; end if;
      return new; end $$;
    create trigger fail_in_team before insert on erasures for each row execute function fail_in_team()`);
  const asked = await address("erase", "ann@example.net", "--suppress");
  expect(asked.stdout).toContain("Requested the erasure in 2 teams.");
  expect(asked.stderr).toContain("Not requested in team Failing: PostgresError P0001. Run it again.");
  expect(asked.stderr).not.toContain("Deleted");
  expect(asked.stderr).not.toContain("ann@example.net");
  expect(asked.code).toBe(1);
  const rows = await world.hot<{ id: string }[]>`select team_id as id from erasures order by requested_at`;
  expect(rows.map(({ id }) => id)).toEqual([world.id, last.id]);
  await world.hot.unsafe("drop trigger fail_in_team on erasures");
  const again = await address("erase", "ann@example.net", "--json");
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ data: [{}, {}, {}, {}], failed: [] });
  const list = await address("erasures", "ann@example.net", "--json");
  expect(JSON.parse(list.stdout).data).toHaveLength(4);
});

test("a text that is not an address is rejected before any team", async () => {
  const asked = await address("erase", "ann");
  expect([asked.code, asked.stdout]).toEqual([1, ""]);
  expect(asked.stderr).toContain('no "@"');
});
