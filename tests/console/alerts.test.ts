import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { users } from "#db/schema/teams";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { alertWebhookSecret } from "#server/services/alerts/installation-webhook";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
const bob = await createRoleTeam(console, "Bob's");
await console.deps.db.update(users).set({ isOperator: true }).where(eq(users.id, bob.userIds.viewer));
await console.world.hot`insert into queue_pauses (id, team_id, reason, actor)
  values (uuid_v7(), ${ann.ctx.teamId}, 'Unpaid invoice', 'operator')`;
await console.world.hot`insert into webhooks (id, team_id, url, events, secret, status, disabled_reason)
  values (uuid_v7(), ${ann.ctx.teamId}, 'https://hooks.example.com/in?token=hidden', '{email.sent}', 'sealed', 'disabled', 'gone')`;
await evaluateAlerts(console.deps);

const callerOf = async (userId: string) => await console.callerAs(userId);

test("members see the open alerts of their team with what to do, and none of another team", async () => {
  const caller = await callerOf(ann.userIds.viewer);
  expect(await caller.alerts.ofTeam({ team: ann.ctx.teamId })).toMatchObject([
    {
      kind: "endpoint_disabled",
      title: "Webhook disabled",
      message:
        "The endpoint at hooks.example.com responded 410 Gone and was disabled. It receives no events.",
      toDo: expect.stringContaining("enable it again"),
      page: "/console/webhooks",
      resolvedAt: null,
    },
    { kind: "team_paused", message: expect.stringContaining("Unpaid invoice") },
  ]);
  const other = await callerOf(bob.userIds.owner);
  expect(await other.alerts.ofTeam({ team: bob.ctx.teamId })).toEqual([]);
  await expect(other.alerts.ofTeam({ team: ann.ctx.teamId })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("operators see the alerts of all teams, the thresholds and the secret of the webhook, never its path", async () => {
  const operator = await callerOf(bob.userIds.viewer);
  console.deps.policy.alertWebhookUrl = "https://alerts.example.com/in?token=hidden";
  console.deps.policy.teamPause.bounceShare = 0.1;
  const seen = await operator.alerts.list();
  expect(seen.open.map(({ kind, teamName }) => `${kind} ${teamName}`).sort()).toEqual([
    "endpoint_disabled Ann's",
    "team_paused Ann's",
  ]);
  expect(seen).toMatchObject({
    resolved: [],
    webhookHost: "alerts.example.com",
    thresholds: {
      alerts: { bounce: "5%", complaint: "0.1%", recipientsMin: 100 },
      pauses: { bounce: "10%", complaint: null, recipientsMin: 200 },
    },
  });
  expect(JSON.stringify(seen)).not.toContain("hidden");
  expect(await operator.alerts.webhookSecret()).toEqual({ secret: alertWebhookSecret(console.deps) });
  expect(alertWebhookSecret(console.deps)).toMatch(/^whsec_[\w+/]{32}$/);

  await console.world.hot`update webhooks set status = 'enabled', disabled_reason = null`;
  await evaluateAlerts(console.deps);
  const after = await operator.alerts.list();
  expect(after.open.map(({ kind }) => kind)).toEqual(["team_paused"]);
  expect(after.resolved).toMatchObject([{ kind: "endpoint_disabled", resolvedAt: expect.any(String) }]);
});

test("each user turns alert emails off and on for themselves", async () => {
  const caller = await callerOf(ann.userIds.admin);
  expect(await caller.profile.get()).toMatchObject({ hasAlertEmails: true });
  await caller.profile.setAlertEmails({ isOn: false });
  expect(await caller.profile.get()).toMatchObject({ hasAlertEmails: false });
  const owner = await callerOf(ann.userIds.owner);
  expect(await owner.profile.get()).toMatchObject({ hasAlertEmails: true });
});

test("before a disk fills, only operators are warned on the overview of their team", async () => {
  const disk = console.deps.readDisk;
  console.deps.readDisk = async () => ({ freeBytes: 2 ** 28, totalBytes: 2 ** 36 });
  const round = async (minutes: number) => {
    await console.world.elapse(`${minutes} min`);
    await evaluateAlerts(console.deps);
  };
  await round(2);
  await round(3);
  const kindsFor = async (userId: string) =>
    (await (await callerOf(userId)).alerts.ofTeam({ team: bob.ctx.teamId })).map(({ kind }) => kind);
  expect(await kindsFor(bob.userIds.viewer)).toEqual(["disk_space"]);
  expect(await kindsFor(bob.userIds.owner)).toEqual([]);
  console.deps.readDisk = disk;
  await round(2);
  await round(40);
  expect(await kindsFor(bob.userIds.viewer)).toEqual([]);
});
