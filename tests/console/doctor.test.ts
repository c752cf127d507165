import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { users } from "#db/schema/teams";
import { CHECKS } from "#server/services/doctor/finding";
import { createExamination, type Report } from "#server/services/doctor/run";
import { cookiesOf, openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const team = await createRoleTeam(console, "Ann's");
await console.deps.db.update(users).set({ isOperator: true }).where(eq(users.id, team.userIds.viewer));

test("an operator runs the doctor in the console, with what to do about each fault, the most severe first", async () => {
  const { id } = await console.session(team.userIds.viewer);
  const caller = console.callerOf(await cookiesOf(id));
  const { findings, at } = await caller.installation.examine();
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(CHECKS));
  const faults = findings.filter(({ status }) => status === "error" || status === "warning");
  expect(faults.length).toBeGreaterThan(0);
  for (const { advice } of faults) expect(advice).toMatch(/^[A-Z].+/);
  expect(findings.slice(0, faults.length)).toEqual(faults);
  // The next one is the same report.
  expect((await caller.installation.examine()).at).toBe(at);
});

test("the checks run once at a time and at most once in 30 s, and again after a failure", async () => {
  let runs = 0;
  let nowMs = 0;
  let fails = false;
  const report: Report = { status: "ok", findings: [] };
  const examine = createExamination(
    async () => {
      runs += 1;
      if (fails) throw new Error("no database");
      return report;
    },
    () => new Date(nowMs),
  );
  await Promise.all([examine(), examine(), examine()]);
  nowMs += 29_000;
  await examine();
  expect(runs).toBe(1);
  nowMs += 2_000;
  await examine();
  expect(runs).toBe(2);
  nowMs += 31_000;
  fails = true;
  await expect(examine()).rejects.toThrow("no database");
  fails = false;
  expect(await examine()).toMatchObject(report);
  expect(runs).toBe(4);
});
