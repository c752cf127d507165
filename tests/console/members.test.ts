import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { memberships, type Role } from "#db/schema/teams";
import { createKey } from "#server/services/keys/keys";
import { removeMember } from "#server/services/members/change";
import { inviteMember } from "#server/services/members/invitations/send";
import { FOR_CONCURRENT_CALLS, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let party: RoleTeam;
let team: string;
const console = await openConsole(FOR_CONCURRENT_CALLS);
beforeEach(async () => {
  party = await createRoleTeam(console, "Ours");
  team = party.teamId;
});

const rolesNow = async () => {
  const rows = await console.deps.db.select().from(memberships).where(eq(memberships.teamId, team));
  return Object.fromEntries(rows.map(({ userId, role }) => [userId, role]));
};
const owners = async () => Object.values(await rolesNow()).filter((role) => role === "owner").length;
const changeRole = (by: Role, userId: string, role: Role) =>
  party.call(by, "members.changeRole", { userId, role });
const remove = (by: Role, userId: string) => party.call(by, "members.remove", { userId });
const entries = async () =>
  (await party.audit()).map(({ action, actorId, subjectId, detail }) => ({
    ...{ action, actorId, subjectId, detail },
  }));
/** Another owner of the team, with a tRPC caller. */
const secondOwner = async () => {
  const { id } = await console.person({ teamId: team, role: "owner" });
  return { id, caller: await console.callerAs(id) };
};

describe("the member list", () => {
  test("shows each member, when they joined, and when they were last seen", async () => {
    const result = await party.call("viewer", "members.list", {});
    expect(result).toMatchObject({
      ok: true,
      data: expect.arrayContaining([
        expect.objectContaining({
          id: party.userIds.viewer,
          role: "viewer",
          isSelf: true,
          is_two_factor_on: false,
          last_seen_at: expect.stringMatching(/Z$/),
        }),
        expect.objectContaining({ id: party.userIds.owner, role: "owner", isSelf: false }),
      ]),
    });
    expect(JSON.stringify(result)).not.toMatch(/password|hash/i);
  });

  test("shows who uses 2FA", async () => {
    await console.world.hot`
      insert into totp_factors (user_id, secret, confirmed_at) values
        (${party.userIds.admin}, 'sealed', now()), (${party.userIds.member}, 'sealed', null)`;
    const caller = await secondOwner();
    const rows = await caller.caller.members.list({ team });
    const factors = Object.fromEntries(rows.map(({ id, is_two_factor_on }) => [id, is_two_factor_on]));
    expect(factors[party.userIds.admin]).toBe(true);
    expect(factors[party.userIds.member]).toBe(false);
  });
});

describe("a role", () => {
  test("takes effect with the next request, for more and for fewer permissions", async () => {
    const { viewer, member } = party.userIds;
    expect(await party.call("viewer", "invitations.list", {})).toMatchObject({ code: "FORBIDDEN" });
    expect(await changeRole("admin", viewer, "admin")).toMatchObject({ ok: true });
    expect(await party.call("viewer", "invitations.list", {})).toMatchObject({ ok: true });
    expect(await changeRole("owner", viewer, "viewer")).toMatchObject({ ok: true });
    expect(await party.call("viewer", "invitations.list", {})).toMatchObject({ code: "FORBIDDEN" });
    expect((await rolesNow())[member]).toBe("member");
  });

  test("of an owner can be assigned and removed only by owners", async () => {
    const { admin, member, owner } = party.userIds;
    for (const [userId, role] of [
      [member, "owner"],
      [admin, "owner"],
      [owner, "admin"],
      [owner, "viewer"],
    ] as const)
      expect(await changeRole("admin", userId, role)).toMatchObject({ ok: false, code: "FORBIDDEN" });
    expect(await remove("admin", owner)).toMatchObject({ ok: false, code: "FORBIDDEN" });
    expect(await changeRole("owner", member, "owner")).toMatchObject({ ok: true });
    expect(await changeRole("member", owner, "viewer")).toMatchObject({ ok: true });
    expect(await owners()).toBe(1);
  });

  test("that was removed during a request is checked in its current state", async () => {
    const { admin, member } = party.userIds;
    await changeRole("owner", admin, "viewer");
    // Like a request that was authorized while its caller was still an admin.
    const stale = { ...party.ctx, actor: { kind: "user", userId: admin } as const };
    await expect(removeMember(stale, member)).rejects.toMatchObject({ code: "forbidden" });
    expect(Object.keys(await rolesNow())).toContain(member);
  });

  test("is audited with the previous role; the same role again is not a change", async () => {
    const { admin, viewer } = party.userIds;
    await changeRole("admin", viewer, "member");
    await changeRole("admin", viewer, "member");
    expect((await entries()).filter(({ action }) => action === "member.role_changed")).toEqual([
      {
        action: "member.role_changed",
        actorId: admin,
        subjectId: viewer,
        detail: { role: "member", role_before: "viewer" },
      },
    ]);
  });
});

describe("the last owner", () => {
  test("cannot leave, be removed or be demoted, and the error says what to do", async () => {
    const { owner } = party.userIds;
    for (const result of [
      await party.call("owner", "members.leave", {}),
      await remove("owner", owner),
      await changeRole("owner", owner, "admin"),
    ])
      expect(result).toMatchObject({
        ok: false,
        code: "CONFLICT",
        message: expect.stringMatching(/last owner\. Make another member an owner first\.$/),
      });
    expect((await rolesNow())[owner]).toBe("owner");
  });

  test("remains when two owners leave concurrently", async () => {
    const pair = [await secondOwner(), await secondOwner()];
    await removeMember(party.ctx, party.userIds.owner);
    const results = await Promise.allSettled(pair.map(({ caller }) => caller.members.leave({ team })));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await owners()).toBe(1);
  });
});

describe("a former member", () => {
  test("is rejected at their next request, and their API keys remain", async () => {
    const { member } = party.userIds;
    const { key } = await createKey(
      { ...party.ctx, actor: { kind: "user", userId: member } },
      { name: "Created by the former member", scopes: ["emails:send"] },
    );
    expect(await party.call("member", "emails.list", {})).toMatchObject({ ok: true });
    expect(await remove("admin", member)).toMatchObject({ ok: true });
    expect(await party.call("member", "emails.list", {})).toEqual({
      ok: false,
      code: "NOT_FOUND",
      message: "Team not found",
    });
    expect(await party.call("owner", "keys.get", { id: key.id })).toMatchObject({
      ok: true,
      data: { state: "active" },
    });
  });

  test("cannot return with an invitation that they sent earlier", async () => {
    const { admin } = party.userIds;
    const theirs = { ...party.ctx, actor: { kind: "user", userId: admin } as const };
    const { link } = await inviteMember(theirs, { email: "back-door@example.org", role: "admin" });
    const { link: untouched } = await inviteMember(party.ctx, { email: "front@example.org", role: "viewer" });
    await remove("owner", admin);
    const open = console.callerOf({ get: () => undefined });
    const tokenOf = (text: string) => text.split("#")[1] ?? "";
    expect(await open.invitations.read({ token: tokenOf(link) })).toMatchObject({ state: "withdrawn" });
    expect(await open.invitations.read({ token: tokenOf(untouched) })).toMatchObject({ state: "open" });
    expect((await entries()).map(({ action }) => action)).toContain("invitation.revoked");
  });

  test("is recorded as having left, not as removed", async () => {
    const { viewer, member } = party.userIds;
    await party.call("viewer", "members.leave", {});
    await remove("owner", member);
    const recorded = (await entries()).filter(({ action }) => /^member\.(left|removed)$/.test(action));
    expect(recorded).toEqual([
      { action: "member.left", actorId: viewer, subjectId: viewer, detail: { role: "viewer" } },
      {
        action: "member.removed",
        actorId: party.userIds.owner,
        subjectId: member,
        detail: { role: "member" },
      },
    ]);
  });

  test("loses pending invitations that their lower role may not send", async () => {
    const { admin } = party.userIds;
    await changeRole("owner", admin, "owner");
    const theirs = { ...party.ctx, actor: { kind: "user", userId: admin } as const };
    const asOwner = await inviteMember(theirs, { email: "o@example.org", role: "owner" });
    const asViewer = await inviteMember(theirs, { email: "v@example.org", role: "viewer" });
    const waiting = async () =>
      ((await party.call("owner", "invitations.list", {})) as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    expect(await waiting()).toEqual([asViewer.id, asOwner.id]);
    await changeRole("owner", admin, "admin");
    expect(await waiting()).toEqual([asViewer.id]);
    await changeRole("owner", admin, "member");
    expect(await waiting()).toEqual([]);
  });
});

describe("another team", () => {
  test("can be created by owners and admins, who become its owner and are in its audit log", async () => {
    const cookies = await console.cookiesOf(party.userIds.admin);
    const { id } = await console.callerOf(cookies).team.create({ name: "  Second  " });
    const admin = console.callerOf(cookies);
    expect(await admin.team.settings({ team: id })).toMatchObject({ name: "Second", unknown: "retry" });
    expect((await admin.activity.changes({ team: id })).rows).toMatchObject([
      { action: "team.created", actorId: party.userIds.admin, subjectName: "Second" },
    ]);
    expect((await admin.members.list({ team: id })).map(({ role }) => role)).toEqual(["owner"]);
  });

  test("cannot be created by plain members", async () => {
    for (const role of ["member", "viewer"] as const) {
      const caller = await console.callerAs(party.userIds[role]);
      await expect(caller.team.create({ name: "Mine" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
  });

  test("has a name of a sensible length", async () => {
    const caller = await console.callerAs(party.userIds.owner);
    for (const name of ["", "   ", "x".repeat(101), "a\0b", "a\ud800b"])
      await expect(caller.team.create({ name })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

test("changes of a team are audited with the previous values, and only actual changes", async () => {
  await party.call("admin", "team.change", { unknown: "hold" });
  await party.call("admin", "team.change", { name: "Renamed", unknown: "hold" });
  await party.call("admin", "team.change", { name: "Renamed" });
  expect(
    (await entries()).filter(({ action }) => action === "team.changed").map(({ detail }) => detail),
  ).toEqual([
    { unknown: "hold", unknown_before: "retry" },
    { name: "Renamed", name_before: "Ours" },
  ]);
});

test("users can rename only themselves", async () => {
  const caller = await console.callerAs(party.userIds.viewer);
  await caller.profile.rename({ name: " Vera <b>Viewer</b> " });
  const again = await console.callerAs(party.userIds.viewer);
  expect(await again.profile.get()).toMatchObject({ name: "Vera <b>Viewer</b>" });
  await again.profile.rename({ name: "" });
  const rows = await again.members.list({ team });
  expect(rows.find(({ isSelf }) => isSelf)).toMatchObject({ name: null });
});
