import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { auditLog } from "#db/schema/audit";
import { invitations } from "#db/schema/invitations";
import { memberships, users } from "#db/schema/teams";
import { acceptAsNew, INVITATION_TRIES_PER_MINUTE } from "#server/services/invitations/accept";
import { INVITATION_LIMITS, inviteMember } from "#server/services/invitations/send";
import { type Console, cookiesOf, noCookies, openConsole } from "../support/console";
import { openParty, type Party } from "../support/parties";

let console: Console;
let party: Party;
let team: string;
let guests = 0;
let email: string;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());
beforeEach(async () => {
  party = await openParty(console, "Ours");
  team = party.teamId;
  email = `guest-${++guests}@example.net`;
});

const NEW = { name: "Greta Guest", password: "a good long password" };
let strangers = 0;
/** Somebody at an address of their own, so that no test uses up another's tries. */
const stranger = () => {
  const n = ++strangers;
  return console.callerOf(noCookies, `198.51.${Math.floor(n / 250)}.${n % 250}`);
};
const tokenOf = ({ link }: { link: string }) => link.split("#")[1] ?? "";
const invite = async (role: "viewer" | "member" | "admin" | "owner" = "member", address = email) =>
  tokenOf(await inviteMember(party.ctx, { email: address, role }));
const look = (token: string) => stranger().invitations.look({ token });
const rolesOf = (address: string) =>
  console.deps.db
    .select({ role: memberships.role, teamId: memberships.teamId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(users.email, address));
const elapse = (interval: string) => console.house.hot`
  update invitations set expires_at = expires_at - ${interval}::text::interval,
    linked_at = linked_at - ${interval}::text::interval where team_id = ${team}`;
/** Somebody with a user elsewhere, signed in. */
const somebody = async (address: string) => {
  const elsewhere = await openParty(console, "Elsewhere");
  const { id } = await console.person({ teamId: elsewhere.teamId, email: address });
  return console.callerOf(await cookiesOf((await console.session(id)).id));
};

describe("an invitation", () => {
  test("lets a new person in once: they choose a name and a password, and are in the team", async () => {
    const token = await invite();
    expect(await look(token)).toMatchObject({
      state: "open",
      teamName: "Ours",
      email,
      role: "member",
      invitedBy: null,
      hasUser: false,
      signedInAs: null,
    });
    expect(await stranger().invitations.accept({ token, ...NEW })).toEqual({ email, teamId: team });
    expect(await rolesOf(email)).toEqual([{ role: "member", teamId: team }]);
    expect(await look(token)).toEqual({ state: "accepted", signedInAs: null });
    await expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/accepted already/),
    });
  });

  test("is not spent by looking at it", async () => {
    const token = await invite();
    for (let times = 0; times < 5; times++) expect(await look(token)).toMatchObject({ state: "open" });
  });

  test("accepted many times at the same moment lets one person in, once", async () => {
    const token = await invite();
    const tries = Array.from({ length: 6 }, () =>
      acceptAsNew(console.deps, { token, ...NEW, address: "192.0.2.1", requestId: "test" }),
    );
    const done = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(done).toHaveLength(1);
    const entries = await console.deps.db.select().from(auditLog).where(eq(auditLog.teamId, team));
    expect(entries.filter(({ action }) => action === "member.joined")).toHaveLength(1);
  });

  test("lets somebody who has a user in only when they are signed in as whom it is for", async () => {
    const token = await invite();
    const mine = await somebody(email);
    const wrong = await somebody(`other-${guests}@example.net`);
    expect(await look(token)).toMatchObject({ state: "open", hasUser: true });
    await expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining(`Sign in as ${email}, then open the link again.`),
    });
    await expect(stranger().invitations.join({ token })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(wrong.invitations.join({ token })).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining(email),
    });
    expect(await look(token)).toMatchObject({ state: "open" });
    expect(await mine.invitations.join({ token })).toEqual({ teamId: team });
    expect(await rolesOf(email)).toContainEqual({ role: "member", teamId: team });
  });

  test("leaves whoever is in the team already in the role that they have", async () => {
    const token = await invite("admin");
    const { id } = await console.person({ teamId: team, role: "viewer", email });
    const caller = console.callerOf(await cookiesOf((await console.session(id)).id));
    await caller.invitations.join({ token });
    expect(await rolesOf(email)).toEqual([{ role: "viewer", teamId: team }]);
  });

  test("runs out after seven days, and says so", async () => {
    const token = await invite();
    await elapse("6 days 23 hours");
    expect(await look(token)).toMatchObject({ state: "open" });
    await elapse("2 hours");
    expect(await look(token)).toEqual({ state: "expired", signedInAs: null });
    await expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/run out/),
    });
    expect(await rolesOf(email)).toEqual([]);
  });

  test("that was withdrawn opens nothing, and says so", async () => {
    const token = await invite();
    const [{ id } = { id: "" }] = await console.deps.db
      .select({ id: invitations.id })
      .from(invitations)
      .where(eq(invitations.email, email));
    expect(await party.call("admin", "invitations.withdraw", { id })).toMatchObject({ ok: true });
    expect(await look(token)).toEqual({ state: "withdrawn", signedInAs: null });
    await expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await party.call("admin", "invitations.withdraw", { id })).toMatchObject({ code: "NOT_FOUND" });
  });

  test.each(["", "x", "a".repeat(43), "A".repeat(200), "../../etc/passwd", "' or 1=1 --"])(
    "whose link says %j is none",
    async (token) => {
      expect(await look(token)).toEqual({ state: "unknown", signedInAs: null });
      await expect(stranger().invitations.accept({ token, ...NEW })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    },
  );

  test("for an address that has a user sets no work: what is brought is not even judged as a password", async () => {
    const token = await invite();
    await somebody(email);
    await expect(stranger().invitations.accept({ token, name: "", password: "short" })).rejects.toMatchObject(
      { code: "CONFLICT", message: expect.stringContaining("Sign in as") },
    );
  });

  test("is accepted a few times a minute, from wherever, and looked at more often from one address", async () => {
    const token = await invite();
    const accept = (by: ReturnType<typeof stranger>) =>
      by.invitations.accept({ token, name: "", password: "short" }).catch(({ code }) => code);
    for (let times = 0; times < INVITATION_TRIES_PER_MINUTE.invitation; times++)
      expect(await accept(stranger())).toBe("UNPROCESSABLE_CONTENT");
    expect(await accept(stranger())).toBe("TOO_MANY_REQUESTS");
    const one = stranger();
    for (let times = 0; times < INVITATION_TRIES_PER_MINUTE.address; times++)
      expect(await one.invitations.look({ token })).toMatchObject({ state: "open" });
    await expect(one.invitations.look({ token })).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect(await accept(one)).toBe("TOO_MANY_REQUESTS");
    expect(await look(token)).toMatchObject({ state: "open" });
  });

  test("with a password that will not do stays open", async () => {
    const token = await invite();
    await expect(stranger().invitations.accept({ token, name: "", password: "short" })).rejects.toMatchObject(
      { message: expect.stringMatching(/12 to 256 characters/) },
    );
    expect(await look(token)).toMatchObject({ state: "open" });
  });
});

describe("whoever invites", () => {
  test("gives no role above what they may give", async () => {
    const create = (by: "admin" | "owner", role: string) =>
      party.call(by, "invitations.create", { email: `${role}.${email}`, role });
    expect(await create("admin", "owner")).toMatchObject({ ok: false, code: "FORBIDDEN" });
    expect(await create("admin", "admin")).toMatchObject({ ok: true });
    expect(await create("owner", "owner")).toMatchObject({ ok: true });
  });

  test("hears the link once, and no list tells it", async () => {
    const heard = await party.call("admin", "invitations.create", { email, role: "viewer" });
    expect(heard).toMatchObject({
      ok: true,
      data: { email, role: "viewer", link: expect.stringMatching(/^https?:\/\/[^/]+\/invite#[\w-]{43}$/) },
    });
    const token = tokenOf((heard as { data: { link: string } }).data);
    const list = await party.call("admin", "invitations.list", {});
    expect(list).toMatchObject({ ok: true, data: [{ email, isExpired: false }] });
    expect(JSON.stringify(list)).not.toContain(token);
    const dump = await console.house.hot`select to_jsonb(i)::text as row from invitations i`;
    const log = await console.house.hot`select to_jsonb(a)::text as row from audit_log a`;
    expect(JSON.stringify([dump, log])).not.toContain(token);
  });

  test("gets another link, with which the one before opens nothing", async () => {
    const before = await invite();
    const [row] = ((await party.call("admin", "invitations.list", {})) as { data: { id: string }[] }).data;
    const renew = () => party.call("admin", "invitations.renew", { id: row?.id });
    expect(await renew()).toMatchObject({ ok: false, code: "TOO_MANY_REQUESTS" });
    await elapse("8 days");
    const after = tokenOf(((await renew()) as { data: { link: string } }).data);
    expect(await look(before)).toEqual({ state: "unknown", signedInAs: null });
    expect(await look(after)).toMatchObject({ state: "open", role: "member" });
  });

  test("cannot invite who is in the team, or was invited, until that has run out", async () => {
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

  test("at the same moment as another makes one invitation for an address", async () => {
    const tries = Array.from({ length: 6 }, () => inviteMember(party.ctx, { email, role: "viewer" }));
    const done = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(done).toHaveLength(1);
  });

  test("stops at so many that wait", async () => {
    await console.house.hot`
      insert into invitations (team_id, id, email, role, token_hash, expires_at)
      select ${team}, gen_random_uuid(), 'g' || n || '@example.org', 'viewer', decode(md5(${team} || n), 'hex'),
        now() + interval '1 day'
      from generate_series(1, ${INVITATION_LIMITS.waiting}) n`;
    await expect(invite()).rejects.toMatchObject({ code: "rate_limited" });
    await console.house.hot`update invitations set revoked_at = now() where team_id = ${team}`;
    await expect(invite()).resolves.toMatch(/./);
  });
});

describe("the mail of an invitation", () => {
  const mails = () => console.house.hot<{ recipient: string; details: string }[]>`
    select recipient, details from system_mails where recipient = ${email}`;

  test("is written where mail goes out, in the transaction that made it, and says nothing in clear", async () => {
    const ctx = { ...party.ctx, transportKind: "relay" as const };
    const invited = await inviteMember(ctx, { email, role: "viewer" });
    expect(invited.isMailed).toBe(true);
    const [mail] = await mails();
    expect(mail?.recipient).toBe(email);
    expect(mail?.details).not.toContain(tokenOf(invited));
    await expect(inviteMember(ctx, { email, role: "viewer" })).rejects.toMatchObject({ code: "conflict" });
    expect(await mails()).toHaveLength(1);
  });

  test("is none where mail goes nowhere: the link alone is enough", async () => {
    const { isMailed, link } = await inviteMember(party.ctx, { email, role: "viewer" });
    expect(isMailed).toBe(false);
    expect(await mails()).toHaveLength(0);
    expect(await look(link.split("#")[1] ?? "")).toMatchObject({ state: "open" });
  });
});

test("an invitation is another team's like one that nobody has", async () => {
  await invite();
  const [row] = await console.deps.db.select().from(invitations).where(eq(invitations.email, email));
  const other = await openParty(console, "Theirs");
  expect(await other.call("owner", "invitations.withdraw", { id: row?.id })).toMatchObject({
    code: "NOT_FOUND",
    message: "Invitation not found",
  });
  expect(await other.call("owner", "invitations.list", {})).toEqual({ ok: true, data: [] });
});
