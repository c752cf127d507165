import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { getBacklog } from "#server/services/backlog-alarms";
import { requestErasure } from "#server/services/erasures/request";
import { inviteMember } from "#server/services/members/invitations/send";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { listActivePauses } from "#server/services/pauses/read";
import { setRetention } from "#server/services/retention";
import {
  cancelTeamDeletion,
  listDeletions,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
import { deleteDueTeams, TEAM_TABLES } from "#server/services/team-deletions/run";
import { readTables } from "../support/database/tenants";
import { forEachTest } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWebhookWorld } from "../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());

const run = (shouldContinue = () => true) => deleteDueTeams(world.deps, shouldContinue);
const request = () => requestTeamDeletion(world.ctx, { confirm: "First" });
const rowsOf = async (teamId: string) => {
  const tables = (await readTables(world.hot)).filter(
    ({ name, hasTeam }) => hasTeam && name !== "team_deletions",
  );
  const counts = tables.map(
    ({ name }) => `select '${name}' as name, count(*)::int as n from "${name}" where team_id = $1`,
  );
  const rows = await world.hot.unsafe<{ name: string; n: number }[]>(counts.join(" union all "), [teamId]);
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
};

test("every table of a team is deleted with it", async () => {
  const tables = (await readTables(world.hot)).filter(({ hasTeam }) => hasTeam).map(({ name }) => name);
  expect(
    TEAM_TABLES.map(([name]) => name as string)
      .concat("team_deletions")
      .sort(),
  ).toEqual(tables);
});

test("keys, email and webhooks of the team stop at once, and go on after a cancellation", async () => {
  const sink = await world.sink();
  await world.endpoint(sink, ["email.delivered", "suppression.added"]);
  const id = await world.sendByApi();
  await request();
  const rejected = await world.api("GET", "/api/emails", { token: world.token });
  expect(rejected.status).toBe(401);
  await tick(world.worker, { budgetMs: 60_000 });
  expect((await world.email(id)).status).toBe("queued");
  const { deliveries } = await world.email(id);
  expect(deliveries[0]?.pause).toMatchObject({
    rule: "team_deletion",
    reason: expect.stringMatching(
      /^Its deletion is planned for \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Until then, an owner or an operator can cancel it\.$/,
    ),
  });
  await cancelTeamDeletion(world.ctx);
  expect((await world.api("GET", "/api/emails", { token: world.token })).status).toBe(200);
  await tick(world.worker, { budgetMs: 60_000 });
  await world.round();
  expect((await world.email(id)).status).toBe("delivered");
  expect(sink.received.length).toBeGreaterThan(0);
  await world.elapse("8 days");
  await run();
  expect((await rowsOf(world.id)).emails).toBe(1);
});

test("email and events of a team that will be deleted are not late, and count as paused until a cancellation", async () => {
  const sink = await world.sink();
  await world.endpoint(sink, ["suppression.added"]);
  await world.ok("POST", "/api/suppressions", { email: "ben@example.net" });
  await world.sendByApi();
  await request();
  await world.elapse("1 hour");
  await world.round();
  expect(sink.received).toEqual([]);
  expect(await getBacklog(world.deps.db)).toEqual({ deliverySeconds: null, eventSeconds: null });
  const { queues } = await getInstallationFigures(world.deps);
  expect(queues).toMatchObject([
    { queue: "email", counts: { due: 0, paused: 1 }, oldestDueSeconds: 0 },
    { queue: "webhook", counts: { due: 0, later: 0, paused: 1 }, oldestDueSeconds: 0 },
    { queue: "system_email" },
  ]);
  expect(await world.hot`select kind from alerts where opened_at is not null`).toEqual([]);
  await cancelTeamDeletion(world.ctx);
  const { deliverySeconds, eventSeconds } = await getBacklog(world.deps.db);
  expect(Math.max(deliverySeconds ?? 999, eventSeconds ?? 999)).toBeLessThan(300);
  await world.round();
  expect(sink.received).toHaveLength(1);
});

test("a deletion changes no pause of the operator, and resuming a team does not end its deletion", async () => {
  const scope = { teamId: world.id, domain: null };
  const id = await world.sendByApi();
  await request();
  await expect(resumeQueue(world.ctx, scope)).rejects.toThrow("not paused");
  await pauseQueue(world.ctx, { ...scope, reason: "Unpaid invoice" });
  await cancelTeamDeletion(world.ctx);
  await tick(world.worker, { budgetMs: 60_000 });
  const { deliveries, status } = await world.email(id);
  expect(status).toBe("queued");
  expect(deliveries[0]?.pause).toEqual({ rule: "team_paused", reason: "Unpaid invoice" });
  await request();
  await resumeQueue(world.ctx, scope);
  await tick(world.worker, { budgetMs: 60_000 });
  expect((await world.email(id)).status).toBe("queued");
  await cancelTeamDeletion(world.ctx);
  await tick(world.worker, { budgetMs: 60_000 });
  expect((await world.email(id)).status).toBe("delivered");
});

test("after the waiting period everything of the team is deleted, users and other teams stay, and the receipt remains", async () => {
  const other = await world.otherTeam();
  await world.send({}, { ...other.ctx, teamId: other.id }).catch(() => {});
  const sink = await world.sink();
  await world.endpoint(sink, ["email.sent", "email.delivered"]);
  for (let n = 0; n < 2; n++)
    await world.sendByApi({ to: ["delivered@backstamp.test", "bounced@backstamp.test"] });
  await world.round();
  await world.ok("POST", "/api/suppressions", { email: "ben@example.net" });
  await world.ok("POST", "/api/templates", { name: "Welcome", html: "<p>Hi</p>" });
  await setRetention(world.ctx, { bodiesDays: 30, emailsDays: null });
  await requestErasure(world.ctx, { address: "ann@example.net", suppresses: false });
  await inviteMember(world.ctx, { email: "carl@example.net", role: "member" }).catch(() => {});
  await world.deps.requestLog.flush();
  const before = await rowsOf(other.id);
  await request();
  await world.elapse("6 days");
  await run();
  expect((await rowsOf(world.id)).emails).toBe(2);
  await world.elapse("2 days");
  // Runs that end after one step, as if the worker had been killed.
  for (let n = 0; n < 8; n++) {
    let calls = 0;
    await run(() => calls++ < 2);
  }
  await run();
  expect(Object.entries(await rowsOf(world.id)).filter(([, count]) => count > 0)).toEqual([]);
  expect(await world.hot`select from teams where id = ${world.id}`).toHaveLength(0);
  expect(await rowsOf(other.id)).toEqual(before);
  const [receipt] = await listDeletions(world.deps);
  expect(receipt).toMatchObject({
    teamName: "First",
    actor: "operator",
    endedAt: expect.any(Date),
    counts: { emails: 2, deliveries: 4, suppressions: expect.any(Number), api_keys: 1 },
  });
  const env = { DATABASE_URL: world.databaseUrl };
  const { stdout } = await runCommand(["team", "deletions", "--json"], { env });
  expect(JSON.parse(stdout).data).toMatchObject([
    { team_name: "First", status: "deleted", requested_by: "operator", counts: { emails: 2 } },
  ]);
  await expect(cancelTeamDeletion(world.ctx)).rejects.toThrow();
});

test("a request needs the name of the team, and only one is open", async () => {
  await expect(requestTeamDeletion(world.ctx, { confirm: "Other" })).rejects.toThrow(
    "enter the name of the team: First",
  );
  await expect(requestTeamDeletion(world.ctx, { confirm: "First", days: 0 })).rejects.toThrow("1 to 90");
  await request();
  await expect(request()).rejects.toThrow("already requested");
  expect((await world.api("GET", "/api/emails", { token: world.token })).status).toBe(401);
});

test("a step that fails is recorded with its reason and repeated later, and other teams are deleted meanwhile", async () => {
  const other = await world.otherTeam();
  await requestTeamDeletion(other.ctx, { confirm: "Other", days: 8 });
  await request();
  await world.hot.unsafe(`
    create function reject() returns trigger language plpgsql as $$ begin raise exception 'disk quota exceeded'; end $$;
    create trigger reject before delete on domains for each row when (old.name = 'example.org') execute function reject()`);
  await world.elapse("9 days");
  await run();
  const read = async () =>
    Object.fromEntries((await listDeletions(world.deps)).map(presentDeletion).map((d) => [d.team_name, d]));
  expect(await read()).toMatchObject({
    First: { status: "deleting", fault: "disk quota exceeded" },
    Other: { status: "deleted", fault: null },
  });
  await world.hot`drop trigger reject on domains`;
  // Before its time, the step is not repeated.
  await run();
  expect(await read()).toMatchObject({ First: { status: "deleting" } });
  await world.elapse("6 minutes");
  await run();
  expect(await read()).toMatchObject({ First: { status: "deleted", fault: null } });
});

test("a deletion that has started cannot be canceled", async () => {
  await request();
  await world.elapse("8 days");
  let calls = 0;
  await run(() => calls++ < 2);
  await expect(cancelTeamDeletion(world.ctx)).rejects.toThrow("has started");
  expect(await listActivePauses(world.hot, [world.id])).toMatchObject([
    { isDeletion: true, reason: "Its deletion has started and cannot be canceled." },
  ]);
});
