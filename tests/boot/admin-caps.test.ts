import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createTeam } from "#server/services/teams";
import { type House, openHouse } from "../support/house";
import { killLeftovers } from "../support/processes";
import { runProgram } from "../support/program";

// Each command is a process of its own.
vi.setConfig({ testTimeout: 240_000 });

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterEach(killLeftovers);
afterAll(() => house.close());

const posthorn = (args: string[]) =>
  runProgram("server/boot/admin.ts", args, { env: { DATABASE_URL: house.url } });

async function posthornJson(args: string[]) {
  const { code, stdout, stderr } = await posthorn([...args, "--json"]);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("what a day allows a domain and a team is set, shown and taken away", async () => {
  await posthornJson(["domain", "add", "warm.example", "--verified"]);
  const warmUp = ["--warm-up", "50", "--growth", "30%", "--from", "2026-01-31"];
  const warm = await posthornJson(["domain", "set", "warm.example", "--daily-cap", "500", ...warmUp]);
  expect(warm).toMatchObject({
    daily_cap: 500,
    warm_up: { start_date: "2026-01-31", first_day: 50, growth_percent: 30, target: null },
  });
  expect((await posthorn(["domain", "set", "warm.example", "--daily-cap", "400"])).stdout).toMatch(
    /Cap +400 recipients a day.*\n +Warm-up +from 2026-01-31: 50, each day 30 % more, up to 400\n +Today +0 of \d+/,
  );
  const ended = await posthornJson(["domain", "set", "warm.example", "--no-warm-up", "--daily-cap", "none"]);
  expect(ended).toMatchObject({ daily_cap: null, warm_up: null, today: { allowed: null } });

  const team = await createTeam(house.deps, { name: "Capped" });
  const set = await posthorn(["team", "set", "Capped", "--daily-cap", "10000", "--unknown", "hold"]);
  expect(set.stdout).toMatch(/is held until .*\n.*10000 recipients a day \(UTC\); today it has written to 0/);
  const free = await posthornJson(["team", "set", team.id, "--daily-cap", "none"]);
  expect(free).toMatchObject({ id: team.id, unknown: "hold", daily_cap: null });
  expect(await posthornJson(["team", "show", "Capped"])).toEqual(free);

  const kept = await posthornJson(["team", "set", "Capped", "--keep-contents", "30", "--keep-mails", "365"]);
  expect(kept).toMatchObject({ keep_contents_days: 30, keep_mails_days: 365 });
  const always = await posthorn(["team", "set", "Capped", "--keep-contents", "always"]);
  expect(always.stdout).toMatch(/is kept as long as they are\.\nIts mails are deleted after 365 days\./);
  const log = await house.hot`select actor, detail from audit_log where team_id = ${team.id} order by id`;
  expect(log.map(({ actor }) => actor)).toEqual(Array.from({ length: 5 }, () => "operator"));
});
