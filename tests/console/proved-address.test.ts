import { readFileSync } from "node:fs";
import path from "node:path";
import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountEvents, accounts } from "#db/schema/account";
import { invitations } from "#db/schema/invitations";
import { users } from "#db/schema/teams";
import { readSession } from "#server/auth";
import { newId } from "#server/ids";
import { inviteMember } from "#server/services/invitations/send";
import { makeResetLink } from "#server/services/sign-in-by-mail";
import { createUser, findUser } from "#server/services/users";
import { enrol } from "../support/authenticator-app";
import { type Console, noCookies, openConsole, PASSWORD } from "../support/console";
import { type Mailbox, openMailbox, tokenOf } from "../support/mailbox";
import { projectRoot } from "../support/processes";
import { openVisitor } from "../support/sign-in-visitor";

/*
 * Whoever invites is shown a link, and can come by it as whom they invite. So a person who came by that link has shown
 * nothing of their address, and what they set up lasts only until its owner comes.
 */

const ANOTHER = "another password entirely";
let console: Console;
let mailbox: Mailbox;
beforeAll(async () => {
  console = await openConsole();
  mailbox = await openMailbox(console);
});
afterAll(async () => {
  await mailbox.close();
  await console.close();
});

let people = 0;
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });
const provedAt = async (email: string) => {
  const [row] = await console.deps.db.select().from(users).where(eq(users.email, email));
  return row?.addressProvedAt ?? null;
};

/** Somebody who came by the link that was shown, or by the one that was mailed; signed in, with an authenticator app. */
async function invited(by: "shown" | "mailed") {
  const email = `guest-${++people}@example.net`;
  const shown = await inviteMember({ ...console.house.ctx, ...console.deps }, { email, role: "member" });
  const [mail] = await mailbox.linksTo(email);
  expect(mail?.pathname).toBe("/invite");
  expect(mail?.hash).not.toBe(new URL(shown.link).hash);
  const token = tokenOf(by === "mailed" ? mail : new URL(shown.link));
  await console.callerOf(noCookies).invitations.accept({ token, name: "", password: PASSWORD });
  const visitor = open();
  await visitor.signIn(email, PASSWORD);
  await enrol(visitor, PASSWORD, console.deps.clock());
  return { email, visitor };
}
async function mailedToken(kind: "sign_in_link" | "password_reset", email: string): Promise<string> {
  await open().tell("link/ask", { kind, email, landing: "/console" });
  return tokenOf((await mailbox.linksTo(email)).at(-1));
}
const locksOf = async (visitor: ReturnType<typeof open>) => visitor.query("account.locks");
const isIn = async (visitor: ReturnType<typeof open>) =>
  (await readSession(console.deps, visitor.cookies)) !== null;

test("an invitation's mailed link shows whose the address is, the one that was shown does not", async () => {
  expect(await provedAt((await invited("mailed")).email)).not.toBeNull();
  expect(await provedAt((await invited("shown")).email)).toBeNull();
});

test("either link of an invitation opens it once, and a new one voids both", async () => {
  const email = `guest-${++people}@example.net`;
  const ctx = { ...console.house.ctx, ...console.deps };
  const { id, link } = await inviteMember(ctx, { email, role: "member" });
  const both = [tokenOf(new URL(link)), tokenOf((await mailbox.linksTo(email)).at(-1))];
  const states = async () =>
    Promise.all(
      both.map(async (token) => (await console.callerOf(noCookies).invitations.look({ token })).state),
    );
  expect(await states()).toEqual(["open", "open"]);
  await console.deps.db.update(invitations).set({ acceptedAt: sql`now()` }).where(eq(invitations.id, id));
  expect(await states()).toEqual(["accepted", "accepted"]);
});

describe("whoever came by the link that was shown", () => {
  test("is nobody any more once the owner of the address comes by a mailed link", async () => {
    const { email, visitor: inviter } = await invited("shown");
    const token = await mailedToken("sign_in_link", email);
    const owner = open();
    expect(await owner.byLink(token)).toMatchObject({ isIn: true, to: "/console" });
    expect(await isIn(inviter)).toBe(false);
    expect((await open().signIn(email, PASSWORD)).error).toBe("CredentialsSignin");
    expect(await locksOf(owner)).toMatchObject({
      data: { hasPassword: false, hasAuthenticator: false, recoveryCodesLeft: 0 },
    });
    expect(await provedAt(email)).not.toBeNull();
  });

  test("is nobody any more once the owner of the address chooses a password by a mailed link", async () => {
    const { email, visitor: inviter } = await invited("shown");
    const token = await mailedToken("password_reset", email);
    expect((await open().tell("password/reset", { token, password: ANOTHER })).status).toBe(200);
    expect(await isIn(inviter)).toBe(false);
    const owner = open();
    expect((await owner.signIn(email, ANOTHER)).isIn).toBe(true);
    expect(await locksOf(owner)).toMatchObject({ data: { hasPassword: true, hasAuthenticator: false } });
  });

  test("keeps their second factor where the operator hands over the link: that shows nothing of the address", async () => {
    const { email } = await invited("shown");
    const { link } = await makeResetLink(console.deps, email);
    const token = tokenOf(new URL(link));
    expect((await open().tell("password/reset", { token, password: ANOTHER })).status).toBe(200);
    expect((await open().signIn(email, ANOTHER)).to).toMatch(/^\/login\/second/);
    expect(await provedAt(email)).toBeNull();
  });
});

test("whoever came by the mailed link loses nothing by another one", async () => {
  const { email, visitor } = await invited("mailed");
  expect((await open().byLink(await mailedToken("sign_in_link", email))).to).toMatch(/^\/login\/second/);
  expect(await isIn(visitor)).toBe(true);
  expect((await open().signIn(email, PASSWORD)).to).toMatch(/^\/login\/second/);
});

test("whom the operator made loses nothing by a mailed link", async () => {
  const email = `guest-${++people}@example.net`;
  const { teamId } = console.house.ctx;
  await createUser(console.deps, { email, password: PASSWORD, teamId, role: "member" });
  expect((await open().byLink(await mailedToken("sign_in_link", email))).isIn).toBe(true);
  expect((await open().signIn(email, PASSWORD)).isIn).toBe(true);
});

test("of those who were there before it was known, only who chose a password by an invitation's link stays unproved", async () => {
  const db = console.deps.db;
  const made = async (kind: string) => {
    const { id, email } = await console.person({ email: `${kind}@example.com`, isAddressProved: false });
    return { id, email };
  };
  const accepted = async (userId: string, email: string) =>
    db.insert(invitations).values({
      teamId: console.house.ctx.teamId,
      id: newId(),
      email,
      role: "member",
      tokenHash: Buffer.from(newId()),
      expiresAt: sql`now()`,
      acceptedBy: userId,
      acceptedAt: sql`(select created_at from users where id = ${userId})`,
    });
  const event = (userId: string, kind: string, subject: string | null) =>
    db.insert(accountEvents).values({ id: newId(), userId, kind, subject });
  await made("operator");
  for (const kind of ["password", "mailed", "reset", "linked", "none"]) {
    const { id, email } = await made(kind);
    await accepted(id, email);
    await event(id, "signed_in", "password and a passkey");
    if (kind === "mailed") await event(id, "signed_in", "mailed link and a passkey");
    if (kind === "reset") await event(id, "password_reset", null);
    if (kind === "none") await db.update(users).set({ passwordHash: null }).where(eq(users.id, id));
    if (kind === "linked")
      await db.insert(accounts).values({ provider: "google", providerAccountId: newId(), userId: id, email });
  }
  const file = path.join(projectRoot, "db/migrations/0025_address_proofs.sql");
  const backfill = readFileSync(file, "utf8").split("--> statement-breakpoint").at(-1) ?? "";
  await console.house.hot.unsafe(backfill);
  for (const kind of ["operator", "mailed", "reset", "linked", "none"])
    expect(await provedAt(`${kind}@example.com`), kind).not.toBeNull();
  expect(await provedAt("password@example.com")).toBeNull();
  expect(await findUser(console.deps, "password@example.com")).not.toBeNull();
});
