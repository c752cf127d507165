import { beforeEach, expect, test } from "vitest";
import { cancelTeamDeletion, requestTeamDeletion } from "#server/services/team-deletions/request";
import { createAlertWorld } from "../support/alert-world";
import { forEachTest } from "../support/fixtures";

const world = forEachTest(() => createAlertWorld());
let adam: string;
beforeEach(async () => {
  adam = await world.person("adam@example.net", { role: "admin" });
  await world.hot`update users set has_alert_emails = false where id = ${adam}`;
  await world.person("mia@example.net", { role: "member" });
  await world.person("otto@example.net", { role: "owner", team: await world.otherTeam() });
});

const request = () => requestTeamDeletion(world.ctx, { confirm: "First" });
const read = async () => {
  await world.round();
  return world
    .received()
    .map(({ to, subject, text }) => ({ to, subject, text }))
    .sort((a, b) => (a.to < b.to ? -1 : 1));
};

test("all owners and admins of a team get an email when its deletion is requested, and when it is canceled", async () => {
  const owner = await world.hot`select id from users where email = 'ann@example.net'`;
  const ann = { ...world.ctx, actor: { kind: "user" as const, userId: String(owner[0]?.id) } };
  await requestTeamDeletion(ann, { confirm: "First" });
  const requested = await read();
  expect(requested.map(({ to }) => to)).toEqual(["adam@example.net", "ann@example.net"]);
  expect(requested[0]?.subject).toMatch(/^The team First will be deleted on \d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  expect(requested[0]?.text).toContain("ann@example.net requested the deletion of the team First");
  expect(requested[0]?.text).toContain(`https://mail.example.com/console/settings/team?team=${world.id}`);
  await cancelTeamDeletion(world.ctx);
  const canceled = await read();
  expect(canceled.map(({ to, subject }) => `${to}: ${subject}`)).toEqual([
    "adam@example.net: The team First will not be deleted",
    "ann@example.net: The team First will not be deleted",
  ]);
  expect(canceled[0]?.text).toContain("The operator canceled the deletion of the team First");
});

test("an email that is no longer true, or whose reader left the team, is not sent", async () => {
  await request();
  await world.hot`delete from memberships where user_id = ${adam}`;
  await cancelTeamDeletion(world.ctx);
  const emails = await read();
  expect(emails.map(({ to, subject }) => `${to}: ${subject}`)).toEqual([
    "ann@example.net: The team First will not be deleted",
  ]);
});

test("without outgoing email, a deletion is requested and canceled all the same", async () => {
  const ctx = { ...world.ctx, transportKind: "none" as const };
  await requestTeamDeletion(ctx, { confirm: "First" });
  await cancelTeamDeletion(ctx);
  expect(await world.hot`select from system_mails`).toHaveLength(0);
  expect(await read()).toEqual([]);
});
