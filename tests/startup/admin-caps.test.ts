import { expect, test } from "vitest";
import { createTeam } from "#server/services/teams";
import { forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const { cli, cliJson } = commandsOf(() => ({ DATABASE_URL: world.databaseUrl }));

test("the daily caps and the warm-up of a domain and a team are set, shown and removed", async () => {
  await cliJson(["domain", "add", "warm.example", "--verified"]);
  const warmUp = ["--warm-up", "50", "--growth", "30%", "--from", "2026-01-31"];
  const warm = await cliJson(["domain", "set", "warm.example", "--daily-cap", "500", ...warmUp]);
  expect(warm).toMatchObject({
    daily_cap: 500,
    warm_up: { start_date: "2026-01-31", first_day: 50, growth_percent: 30, target: null },
  });
  expect((await cli(["domain", "set", "warm.example", "--daily-cap", "400"])).stdout).toMatch(
    /Daily cap +400\n\n +Warm up\n +Start date +2026-01-31\n +First day +50\n +Growth percent +30\n +Target +none\n\n +Today\n +Allowed +\d+\n +Handed over +0\n/,
  );
  const ended = await cliJson(["domain", "set", "warm.example", "--warm-up", "none", "--daily-cap", "none"]);
  expect(ended).toMatchObject({ daily_cap: null, warm_up: null, today: { allowed: null } });

  const team = await createTeam(world.deps, { name: "Capped" });
  const set = await cli(["team", "set", "Capped", "--daily-cap", "10000", "--unknown", "hold"]);
  expect(set.stdout).toMatch(/Unknown +hold\n +Daily cap +10000\n +Handed over today +0\n/);
  const free = await cliJson(["team", "set", team.id, "--daily-cap", "none"]);
  expect(free).toMatchObject({ id: team.id, unknown: "hold", daily_cap: null });
  expect(await cliJson(["team", "show", "Capped"])).toEqual(free);

  const kept = await cliJson(["team", "set", "Capped", "--keep-contents", "30", "--keep-emails", "365"]);
  expect(kept).toMatchObject({ keep_contents_days: 30, keep_emails_days: 365 });
  const always = await cli(["team", "set", "Capped", "--keep-contents", "always"]);
  expect(always.stdout).toMatch(/Keep contents days +none\n +Keep emails days +365\n/);
  const log = await world.hot`select actor, detail from audit_log where team_id = ${team.id} order by id`;
  expect(log.map(({ actor }) => actor)).toEqual(Array.from({ length: 5 }, () => "operator"));
});
