import { eq, sql } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { invitations, users } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { createResetLink } from "#server/services/account/sign-in/sign-in-by-email";
import { inviteMember } from "#server/services/members/invitations/send";
import { createUser } from "#server/services/people/users";
import { enrol } from "../support/console/authenticator-app";
import { noCookies, openConsole, PASSWORD } from "../support/console/console";
import { openMailbox, tokenOf } from "../support/console/mailbox";
import { openVisitor } from "../support/console/sign-in-visitor";

/*
 * The inviter sees a link and could use it to join as the invitee. A user who joined with that link therefore
 * has no verified address, and their setup is removed when the owner of the address signs in.
 */

const ANOTHER = "another password entirely";
const console = await openConsole();
const mailbox = await openMailbox(console);
afterAll(() => mailbox.close());

let people = 0;
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });
const provedAt = async (email: string) => {
  const [row] = await console.deps.db.select().from(users).where(eq(users.email, email));
  return row?.addressVerifiedAt ?? null;
};

/** A user who joined with the inviter's or the emailed link; signed in, with an authenticator app. */
async function invited(by: "shown" | "mailed") {
  const email = `guest-${++people}@example.net`;
  const invited = await inviteMember({ ...console.world.ctx, ...console.deps }, { email, role: "member" });
  const [mail] = await mailbox.linksTo(email);
  expect(mail?.pathname).toBe("/invite");
  expect(mail?.hash).not.toBe(new URL(invited.link).hash);
  const token = tokenOf(by === "mailed" ? mail : new URL(invited.link));
  await console.callerOf(noCookies).invitations.accept({ token, name: "", password: PASSWORD });
  const visitor = open();
  await visitor.signIn(email, PASSWORD);
  await enrol(visitor, PASSWORD, console.deps.clock());
  return { email, visitor };
}
async function mailedToken(kind: "sign_in_link" | "password_reset", email: string): Promise<string> {
  await open().postJson("link/request", { kind, email, landing: "/console" });
  return tokenOf((await mailbox.linksTo(email)).at(-1));
}
const locksOf = async (visitor: ReturnType<typeof open>) => visitor.query("account.signInMethods");
const isIn = async (visitor: ReturnType<typeof open>) =>
  (await getSession(console.deps, visitor.cookies)) !== null;

test("the emailed link of an invitation verifies the address, the inviter's link does not", async () => {
  expect(await provedAt((await invited("mailed")).email)).not.toBeNull();
  expect(await provedAt((await invited("shown")).email)).toBeNull();
});

test("either link of an invitation works once, and a new link revokes both", async () => {
  const email = `guest-${++people}@example.net`;
  const ctx = { ...console.world.ctx, ...console.deps };
  const { id, link } = await inviteMember(ctx, { email, role: "member" });
  const both = [tokenOf(new URL(link)), tokenOf((await mailbox.linksTo(email)).at(-1))];
  const states = async () =>
    Promise.all(
      both.map(async (token) => (await console.callerOf(noCookies).invitations.read({ token })).state),
    );
  expect(await states()).toEqual(["open", "open"]);
  await console.deps.db.update(invitations).set({ acceptedAt: sql`now()` }).where(eq(invitations.id, id));
  expect(await states()).toEqual(["accepted", "accepted"]);
});

describe("a user who joined with the inviter's link", () => {
  test("loses access once the owner of the address signs in with an email link", async () => {
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

  test("loses access once the owner of the address resets the password with an email link", async () => {
    const { email, visitor: inviter } = await invited("shown");
    const token = await mailedToken("password_reset", email);
    expect((await open().postJson("password/reset", { token, password: ANOTHER })).status).toBe(200);
    expect(await isIn(inviter)).toBe(false);
    const owner = open();
    expect((await owner.signIn(email, ANOTHER)).isIn).toBe(true);
    expect(await locksOf(owner)).toMatchObject({ data: { hasPassword: true, hasAuthenticator: false } });
  });

  test("keeps 2FA after a reset with the operator's link, which does not verify the address", async () => {
    const { email } = await invited("shown");
    const { link } = await createResetLink(console.deps, email);
    const token = tokenOf(new URL(link));
    expect((await open().postJson("password/reset", { token, password: ANOTHER })).status).toBe(200);
    expect((await open().signIn(email, ANOTHER)).to).toMatch(/^\/login\/two-factor/);
    expect(await provedAt(email)).toBeNull();
  });
});

test("a user who joined with the emailed link loses nothing with another one", async () => {
  const { email, visitor } = await invited("mailed");
  expect((await open().byLink(await mailedToken("sign_in_link", email))).to).toMatch(/^\/login\/two-factor/);
  expect(await isIn(visitor)).toBe(true);
  expect((await open().signIn(email, PASSWORD)).to).toMatch(/^\/login\/two-factor/);
});

test("a user whom the operator created loses nothing with an email link", async () => {
  const email = `guest-${++people}@example.net`;
  const { teamId } = console.world.ctx;
  await createUser(console.deps, { email, password: PASSWORD, teamId, role: "member" });
  expect((await open().byLink(await mailedToken("sign_in_link", email))).isIn).toBe(true);
  expect((await open().signIn(email, PASSWORD)).isIn).toBe(true);
});
