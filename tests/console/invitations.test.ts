import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { auditLog } from "#db/schema/audit";
import { invitations, memberships, users } from "#db/schema/teams";
import { acceptAsNew, INVITATION_ATTEMPTS_PER_MINUTE } from "#server/services/members/invitations/accept";
import { INVITATION_LIMITS, inviteMember } from "#server/services/members/invitations/send";
import { FOR_CONCURRENT_CALLS, noCookies, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let party: RoleTeam;
let team: string;
let guests = 0;
let email: string;
const console = await openConsole(FOR_CONCURRENT_CALLS);
beforeEach(async () => {
  party = await createRoleTeam(console, "Ours");
  team = party.teamId;
  email = `guest-${++guests}@example.net`;
});

const NEW = { name: "Greta Guest", password: "a good long password" };
let strangers = 0;
/** A visitor with a unique IP address: rate limits of one test do not affect another. */
const stranger = () => {
  const n = ++strangers;
  return console.callerOf(noCookies, `198.51.${Math.floor(n / 250)}.${n % 250}`);
};
const tokenOf = ({ link }: { link: string }) => link.split("#")[1] ?? "";
const invite = async (role: "viewer" | "member" | "admin" | "owner" = "member", address = email) =>
  tokenOf(await inviteMember(party.ctx, { email: address, role }));
const viewInvitation = (token: string) => stranger().invitations.read({ token });
const expectRefused = (token: string, code: string, message: unknown = expect.any(String)) =>
  expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({ code, message });
const rolesOf = (address: string) =>
  console.deps.db
    .select({ role: memberships.role, teamId: memberships.teamId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(users.email, address));
const elapse = (interval: string) => console.world.hot`
  update invitations set expires_at = expires_at - ${interval}::text::interval,
    linked_at = linked_at - ${interval}::text::interval where team_id = ${team}`;
/** A signed-in user of another team. */
const signedInUser = async (address: string) => {
  const elsewhere = await createRoleTeam(console, "Elsewhere");
  const { id } = await console.person({ teamId: elsewhere.teamId, email: address });
  return await console.callerAs(id);
};

describe("an invitation", () => {
  test("adds a new user once, with a chosen name and password", async () => {
    const token = await invite();
    expect(await viewInvitation(token)).toMatchObject({
      state: "open",
      team_name: "Ours",
      email,
      role: "member",
      invited_by: null,
      has_user: false,
      signedInAs: null,
    });
    expect(await stranger().invitations.accept({ token, ...NEW })).toEqual({ email, teamId: team });
    expect(await rolesOf(email)).toEqual([{ role: "member", teamId: team }]);
    expect(await viewInvitation(token)).toEqual({ state: "accepted", signedInAs: null });
    await expectRefused(token, "CONFLICT", expect.stringMatching(/already accepted/));
  });

  test("adds one user once when it is accepted concurrently", async () => {
    const token = await invite();
    const tries = Array.from({ length: 6 }, () =>
      acceptAsNew(console.deps, { token, ...NEW, address: "192.0.2.1", requestId: "test" }),
    );
    const done = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(done).toHaveLength(1);
    const entries = await console.deps.db.select().from(auditLog).where(eq(auditLog.teamId, team));
    expect(entries.filter(({ action }) => action === "member.joined")).toHaveLength(1);
  });

  test("adds an existing user only when they are signed in as the invitee", async () => {
    const token = await invite();
    const mine = await signedInUser(email);
    const wrong = await signedInUser(`other-${guests}@example.net`);
    expect(await viewInvitation(token)).toMatchObject({ state: "open", has_user: true });
    await expectRefused(
      token,
      "CONFLICT",
      expect.stringContaining(`Sign in as ${email}, then open the link again.`),
    );
    await expect(stranger().invitations.join({ token })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(wrong.invitations.join({ token })).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining(email),
    });
    expect(await viewInvitation(token)).toMatchObject({ state: "open" });
    expect(await mine.invitations.join({ token })).toEqual({ teamId: team });
    expect(await rolesOf(email)).toContainEqual({ role: "member", teamId: team });
  });

  test("leaves the role of an existing member unchanged", async () => {
    const token = await invite("admin");
    const { id } = await console.person({ teamId: team, role: "viewer", email });
    const caller = await console.callerAs(id);
    await caller.invitations.join({ token });
    expect(await rolesOf(email)).toEqual([{ role: "viewer", teamId: team }]);
  });

  test("expires after seven days, with an error that states it", async () => {
    const token = await invite();
    await elapse("6 days 23 hours");
    expect(await viewInvitation(token)).toMatchObject({ state: "open" });
    await elapse("2 hours");
    expect(await viewInvitation(token)).toEqual({ state: "expired", signedInAs: null });
    await expectRefused(token, "CONFLICT", expect.stringMatching(/has expired/));
    expect(await rolesOf(email)).toEqual([]);
  });

  test("is rejected after withdrawal, with an error that states it", async () => {
    const token = await invite();
    const [{ id } = { id: "" }] = await console.deps.db
      .select({ id: invitations.id })
      .from(invitations)
      .where(eq(invitations.email, email));
    expect(await party.call("admin", "invitations.withdraw", { id })).toMatchObject({ ok: true });
    expect(await viewInvitation(token)).toEqual({ state: "withdrawn", signedInAs: null });
    await expectRefused(token, "CONFLICT");
    expect(await party.call("admin", "invitations.withdraw", { id })).toMatchObject({ code: "NOT_FOUND" });
  });

  test.each(["", "a".repeat(43)])("is rejected with the link token %j", async (token) => {
    expect(await viewInvitation(token)).toEqual({ state: "unknown", signedInAs: null });
    await expectRefused(token, "NOT_FOUND");
  });

  test("limits acceptance per invitation, and views per IP address", async () => {
    const token = await invite();
    const accept = (by: ReturnType<typeof stranger>) =>
      by.invitations.accept({ token, name: "", password: "short" }).catch(({ code }) => code);
    for (let times = 0; times < INVITATION_ATTEMPTS_PER_MINUTE.invitation; times++)
      expect(await accept(stranger())).toBe("UNPROCESSABLE_CONTENT");
    expect(await accept(stranger())).toBe("TOO_MANY_REQUESTS");
    const one = stranger();
    for (let times = 0; times < INVITATION_ATTEMPTS_PER_MINUTE.address; times++)
      expect(await one.invitations.read({ token })).toMatchObject({ state: "open" });
    await expect(one.invitations.read({ token })).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect(await accept(one)).toBe("TOO_MANY_REQUESTS");
    expect(await viewInvitation(token)).toMatchObject({ state: "open" });
  });
});

describe("the inviter", () => {
  test("cannot assign a role above their permissions", async () => {
    const create = (by: "admin" | "owner", role: string) =>
      party.call(by, "invitations.create", { email: `${role}.${email}`, role });
    expect(await create("admin", "owner")).toMatchObject({ ok: false, code: "FORBIDDEN" });
    expect(await create("admin", "admin")).toMatchObject({ ok: true });
    expect(await create("owner", "owner")).toMatchObject({ ok: true });
  });

  test("gets the link once, and no list contains it", async () => {
    const result = await party.call("admin", "invitations.create", { email, role: "viewer" });
    expect(result).toMatchObject({
      ok: true,
      data: { email, role: "viewer", link: expect.stringMatching(/^https?:\/\/[^/]+\/invite#[\w-]{43}$/) },
    });
    const token = tokenOf((result as { data: { link: string } }).data);
    const list = await party.call("admin", "invitations.list", {});
    expect(list).toMatchObject({ ok: true, data: [{ email, is_expired: false }] });
    expect(JSON.stringify(list)).not.toContain(token);
    const dump = await console.world.hot`select to_jsonb(i)::text as row from invitations i`;
    const log = await console.world.hot`select to_jsonb(a)::text as row from audit_log a`;
    expect(JSON.stringify([dump, log])).not.toContain(token);
  });

  test("can create a new link, which invalidates the previous one", async () => {
    const before = await invite();
    const [row] = ((await party.call("admin", "invitations.list", {})) as { data: { id: string }[] }).data;
    const renew = () => party.call("admin", "invitations.renew", { id: row?.id });
    expect(await renew()).toMatchObject({ ok: false, code: "TOO_MANY_REQUESTS" });
    await elapse("8 days");
    const after = tokenOf(((await renew()) as { data: { link: string } }).data);
    expect(await viewInvitation(before)).toEqual({ state: "unknown", signedInAs: null });
    expect(await viewInvitation(after)).toMatchObject({ state: "open", role: "member" });
  });

  test("cannot invite a member, or an address with a pending invitation until it expires", async () => {
    const create = (address: string) =>
      party.call("admin", "invitations.create", { email: address, role: "viewer" });
    const { id } = await console.person({ teamId: team });
    const [member] = await console.deps.db.select().from(users).where(eq(users.id, id));
    expect(await create(member?.email.toUpperCase() ?? "")).toMatchObject({ code: "CONFLICT" });
    await invite();
    expect(await create(email)).toMatchObject({ code: "CONFLICT" });
    await elapse("8 days");
    expect(await create(email)).toMatchObject({ ok: true });
    for (const address of [
      "nobody",
      "a@b@c",
      "",
      "two@example.org, three@example.org",
      "Ann <ann@example.org>",
    ])
      expect(await create(address)).toMatchObject({ ok: false });
  });

  test("concurrently with another inviter creates one invitation per address", async () => {
    const tries = Array.from({ length: 6 }, () => inviteMember(party.ctx, { email, role: "viewer" }));
    const done = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(done).toHaveLength(1);
  });

  test("cannot exceed the maximum of pending invitations", async () => {
    await console.world.hot`
      insert into invitations (team_id, id, email, role, token_hash, expires_at)
      select ${team}, gen_random_uuid(), 'g' || n || '@example.org', 'viewer', decode(md5(${team} || n), 'hex'),
        now() + interval '1 day'
      from generate_series(1, ${INVITATION_LIMITS.pending}) n`;
    await expect(invite()).rejects.toMatchObject({ code: "rate_limited" });
    await console.world.hot`update invitations set revoked_at = now() where team_id = ${team}`;
    await expect(invite()).resolves.toMatch(/./);
  });
});

describe("the invitation email", () => {
  const emails = () => console.world.hot<{ recipient: string; details: string }[]>`
    select recipient, details from system_mails where recipient = ${email}`;

  test("is queued in the transaction of the invitation if email is configured, with encrypted details", async () => {
    const ctx = { ...party.ctx, transportKind: "relay" as const };
    const invited = await inviteMember(ctx, { email, role: "viewer" });
    expect(invited.isMailed).toBe(true);
    const [mail] = await emails();
    expect(mail?.recipient).toBe(email);
    expect(mail?.details).not.toContain(tokenOf(invited));
    await expect(inviteMember(ctx, { email, role: "viewer" })).rejects.toMatchObject({ code: "conflict" });
    expect(await emails()).toHaveLength(1);
  });

  test("is not queued if email is not configured: the link is sufficient", async () => {
    const { isMailed, mailFault, link } = await inviteMember(party.ctx, { email, role: "viewer" });
    expect(isMailed).toBe(false);
    expect(mailFault).toMatch(/captured/);
    expect(await emails()).toHaveLength(0);
    expect(await viewInvitation(link.split("#")[1] ?? "")).toMatchObject({ state: "open" });
  });
});
