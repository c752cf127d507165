import { beforeAll, expect, test } from "vitest";
import { queueMany } from "../support/database/queue-many";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
beforeAll(async () => {
  await world.otherTeam("Sales");
});

const queue = (...args: string[]) =>
  runCommand(["queue", ...args], { env: { DATABASE_URL: world.databaseUrl } });
const reason = ["--reason", "The relay is being replaced"] as const;

test("the queue of the installation, a team and a domain is paused, shown and resumed", async () => {
  expect((await queue("pause", ...reason)).stdout).toContain("Paused sending for the installation.");
  expect((await queue("pause", "--team", "Sales", ...reason)).stdout).toContain("for team Sales.");
  const domain = await queue("pause", "--domain", "Example.ORG", "--reason", "SPF is missing");
  expect(domain.stdout).toContain("Paused sending for example.org of team First.");
  const shown = await queue("status");
  expect(shown.stdout).toMatch(/STATE +DELIVERIES +OLDEST DUE AT\nqueued +0\n/);
  expect(shown.stdout).toMatch(/example\.org of team First +SPF is missing +operator +\d{4}-/);
  const again = await queue("resume", "--domain", "example.org");
  expect([again.code, again.stdout]).toEqual([0, "Resumed sending for example.org of team First.\n"]);
  expect(again.stderr).toBe("Its email still waits: sending is paused for the installation.\n");
  expect((await queue("resume", "--team", "Sales")).code).toBe(0);
  expect((await queue("resume")).code).toBe(0);
  const status = await queue("status", "--json");
  expect(JSON.parse(status.stdout)).toMatchObject({ pauses: [], states: { queued: { deliveries: 0 } } });
});

test("a purge shows what it would cancel, and cancels it once the name of the queue confirms it", async () => {
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: 1_200 });
  const asked = await queue("purge", "--team", "First", ...reason);
  expect([asked.code, asked.stdout]).toEqual([1, ""]);
  expect(asked.stderr).toContain(
    'This would cancel 1200 queued deliveries of team First permanently. To confirm, add: --confirm "First"',
  );
  const wrong = await queue("purge", "--team", "First", ...reason, "--confirm", "Sales");
  expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
  expect(await world.hot`select from deliveries where status = 'queued'`).toHaveLength(1_200);
  const done = await queue("purge", "--team", "First", ...reason, "--confirm", "First");
  expect(done.stdout).toBe("Canceled 1200 queued deliveries of team First.\n");
});
