import { beforeAll, expect, test } from "vitest";
import type { Ctx, RestDeps } from "#server/deps";
import {
  cancelTeamDeletion,
  listDeletions,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
import { deleteDueTeams } from "#server/services/team-deletions/run";
import { forAllTests } from "../../support/fixtures";
import type { CommandResult } from "../../support/processes/command-line";
import type { TestTeam } from "../../support/world";
import { createBackupWorld } from "./backup-world";

const world = forAllTests(() => createBackupWorld());
let deps: RestDeps;
let restored: CommandResult;
const teams = {} as Record<"waiting" | "later" | "canceled" | "started", TestTeam>;
beforeAll(async () => {
  const { source } = world;
  const requested = async (name: string, days: number) => {
    const team = await source.otherTeam(name);
    await team.domain(`${name.toLowerCase()}.example`);
    await requestTeamDeletion(team.ctx, { confirm: name, days });
    return team;
  };
  teams.started = await requested("Started", 1);
  await source.elapse("2 days");
  let calls = 0;
  await deleteDueTeams(source.deps, () => calls++ < 2);
  teams.waiting = await requested("Waiting", 7);
  teams.later = await requested("Later", 60);
  teams.canceled = await requested("Canceled", 7);
  await cancelTeamDeletion(teams.canceled.ctx);
  // Nine days pass between the backup and its restore.
  await source.elapse("9 days");
  const file = await world.backUp("deletions.tar.gz");
  const target = await world.target();
  restored = await target.backstamp(["restore", file]);
  deps = target.open().deps;
});

const run = () => deleteDueTeams(deps, () => true);
const namesOf = async () => (await deps.hot`select name from teams order by name`).map(({ name }) => name);
const ctxOf = (team: TestTeam): Ctx => ({ ...team.ctx, ...deps });

test("a restored deletion waits for another 7 days, because it may have been canceled after the backup", async () => {
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.stderr + restored.stdout).toMatch(
    /The deletion of the team Waiting was requested before the backup. It is now planned for \S+Z. .* team keep/,
  );
  await run();
  expect(await namesOf()).toEqual(["Canceled", "First", "Later", "Waiting"]);
  const [row] = await deps.hot`
    select deletes_at > now() + interval '6 days 23 hours' as "isLate" from team_deletions
    where team_id = ${teams.waiting.id}`;
  expect(row).toEqual({ isLate: true });
  await cancelTeamDeletion(ctxOf(teams.waiting));
});

test("one with a later time keeps it, and a canceled one stays canceled", async () => {
  const [later] = await deps.hot`
    select deletes_at > now() + interval '50 days' as "isKept" from team_deletions where team_id = ${teams.later.id}`;
  expect(later).toEqual({ isKept: true });
  expect(restored.stderr + restored.stdout).not.toContain("team Canceled");
  const statuses = (await listDeletions(deps)).map(presentDeletion).map((d) => [d.team_name, d.status]);
  expect(Object.fromEntries(statuses)).toMatchObject({ Canceled: "canceled", Later: "waiting" });
});

test("one that had started continues, and the restore reports it", async () => {
  expect(restored.stderr + restored.stdout).toContain(
    "The deletion of the team Started had started at the time of the backup. It continues.",
  );
  await run();
  const statuses = (await listDeletions(deps)).map(presentDeletion).map((d) => [d.team_name, d.status]);
  expect(Object.fromEntries(statuses)).toMatchObject({ Started: "deleted" });
});
