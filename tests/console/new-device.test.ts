import { eq, sql } from "drizzle-orm";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { systemMails } from "#db/schema/account";
import { users } from "#db/schema/teams";
import { AppError } from "#server/platform/errors";
import { NEW_DEVICE_EMAILS_PER_HOUR } from "#server/services/account/sign-in/new-device";
import { createSignInToken } from "#server/services/people/sign-in-tokens";
import type { User } from "#server/services/people/users";
import { codeOf, enrol } from "../support/console/authenticator-app";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import { openMailbox } from "../support/console/mailbox";
import { createPasskeyDevice } from "../support/console/passkey-device";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { startOauthIssuer } from "../support/servers/oauth-issuer";

const issuer = await startOauthIssuer();
const console = await openConsole(FOR_CONCURRENT_CALLS);
console.deps.providers = issuer.providers;
const mailbox = await openMailbox(console);
beforeEach(() => {
  console.deps.transportKind = "relay";
});
afterAll(async () => {
  await mailbox.close();
  await issuer.close();
});

const DEVICE_COOKIE = "__Host-backstamp.device";
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });

/** A user who has signed in once, and the browser of that sign-in. */
async function openUser(): Promise<{ user: User; home: SignInVisitor }> {
  const user = await console.person();
  const home = open();
  expect((await home.signIn(user.email, PASSWORD)).isIn).toBe(true);
  return { user, home };
}
const noticesTo = async ({ email }: User): Promise<string[]> =>
  (await mailbox.emailsTo(email)).filter((text) => text.includes("Subject: New sign-in to Backstamp"));
const queuedFor = ({ email }: User): Promise<number> =>
  console.deps.db.$count(systemMails, eq(systemMails.recipient, email));

describe("an email about a sign-in from a new device", () => {
  test("names the device, time, IP address and method, and links the sessions", async () => {
    const { user } = await openUser();
    const visitor = open();
    const minute = () => console.deps.clock().toISOString().slice(0, 16).replace("T", " ");
    const before = minute();
    expect((await visitor.signIn(user.email, PASSWORD)).isIn).toBe(true);
    const [text = "", ...others] = await noticesTo(user);
    expect(others).toEqual([]);
    for (const line of [
      "Device: Firefox on Linux",
      `IP address: 198.51.100.${addresses}`,
      "Method: password",
      `${console.deps.url}/console/settings/security`,
    ])
      expect(text.split("\n"), line).toContain(line);
    const [, at = ""] = /^Time: (.*) UTC$/m.exec(text) ?? [];
    expect([before, minute(), at].sort()[1]).toBe(at);
  });

  test("is not sent for the first sign-in of a new user, and for a browser in which the user signed in before", async () => {
    const { user, home } = await openUser();
    await home.submit("signout", {});
    expect((await home.signIn(user.email, PASSWORD)).isIn).toBe(true);
    expect(await queuedFor(user)).toBe(0);
  });

  test("is sent to a user without earlier sessions if the account is not new", async () => {
    const user = await console.person();
    await console.deps.db
      .update(users)
      .set({ createdAt: sql`now() - interval '25 hours'` })
      .where(eq(users.id, user.id));
    await open().signIn(user.email, PASSWORD);
    expect(await noticesTo(user)).toHaveLength(1);
  });

  test("is sent once to each user of a shared browser", async () => {
    const [{ user: ann, home: shared }, { user: ben }] = [await openUser(), await openUser()];
    for (const each of [ben, ann, ben]) {
      await shared.submit("signout", {});
      expect((await shared.signIn(each.email, PASSWORD)).isIn).toBe(true);
    }
    expect(await noticesTo(ben)).toHaveLength(1);
    expect(await queuedFor(ann)).toBe(0);
  });

  test("is sent although the browser has the device cookie of another user, or a forged one", async () => {
    const [{ user }, other] = [await openUser(), await openUser()];
    const foreign = other.home.jar.get(DEVICE_COOKIE) ?? "";
    for (const cookie of [foreign, `${foreign}x`]) {
      const visitor = open();
      visitor.jar.set(DEVICE_COOKIE, cookie);
      expect((await visitor.signIn(user.email, PASSWORD)).isIn).toBe(true);
    }
    expect(await noticesTo(user)).toHaveLength(2);
  });

  test("is not sent for a rejected sign-in", async () => {
    const { user } = await openUser();
    expect((await open().signIn(user.email, "not the password")).isIn).toBe(false);
    expect(await queuedFor(user)).toBe(0);
  });

  test("has a limit per hour that concurrent sign-ins do not exceed, and above which users still sign in", async () => {
    const { user } = await openUser();
    const visitors = Array.from({ length: NEW_DEVICE_EMAILS_PER_HOUR + 3 }, open);
    const results = await Promise.all(visitors.map((visitor) => visitor.signIn(user.email, PASSWORD)));
    for (const { isIn } of results) expect(isIn).toBe(true);
    expect(await queuedFor(user)).toBe(NEW_DEVICE_EMAILS_PER_HOUR);
  });

  test("is not queued while system email cannot be sent, which does not prevent the sign-in", async () => {
    const { user } = await openUser();
    for (const kind of ["none", "capture"] as const) {
      console.deps.transportKind = kind;
      expect((await open().signIn(user.email, PASSWORD)).isIn, kind).toBe(true);
    }
    console.deps.transportKind = "relay";
    const seal = () => {
      throw new AppError("unavailable", "Nothing can be encrypted yet.");
    };
    const deps = { ...console.deps, vault: { ...console.deps.vault, seal } };
    const visitor = openVisitor(deps, { address: "198.51.101.1" });
    expect((await visitor.signIn(user.email, PASSWORD)).isIn).toBe(true);
    expect(console.lines.at(-1)).toMatchObject({
      event: "sign_in.not_announced",
      facts: { userId: user.id },
    });
    expect(await queuedFor(user)).toBe(0);
  });
});

describe("each sign-in method", () => {
  const methodOf = (text = "") => /^Method: (.*)$/m.exec(text)?.[1];

  test("announces a new device: email link", async () => {
    const { user } = await openUser();
    const token = await createSignInToken(console.deps, {
      purpose: "sign_in_link",
      userId: user.id,
      minutes: 5,
    });
    expect((await open().byLink(token)).isIn).toBe(true);
    expect((await noticesTo(user)).map(methodOf)).toEqual(["email link"]);
  });

  test("announces a new device: another service", async () => {
    const { user } = await openUser();
    const visitor = open();
    const { to } = await visitor.submit("signin/github", {});
    const back = new URL(issuer.approve(to, { sub: String(9_000 + addresses), email: user.email }));
    await visitor.get(`callback/github${back.search}`);
    expect(visitor.jar.has("__Host-backstamp.session")).toBe(true);
    expect((await noticesTo(user)).map(methodOf)).toEqual(["GitHub"]);
  });

  test("announces a new device after two-factor authentication, not before it", async () => {
    const { user, home } = await openUser();
    const { secret } = await enrol(home, PASSWORD, console.deps.clock());
    const visitor = open();
    expect((await visitor.signIn(user.email, PASSWORD)).isIn).toBe(false);
    expect(await queuedFor(user)).toBe(0);
    console.world.clock.advance(30_000);
    expect((await visitor.submitCode(codeOf(secret, console.deps.clock()))).isIn).toBe(true);
    expect((await noticesTo(user)).map(methodOf)).toEqual(["password and an authenticator app"]);
  });

  test("announces a new device: passkey", async () => {
    const { user, home } = await openUser();
    const device = createPasskeyDevice({ origin: console.deps.url, rpId: "mail.example.org" });
    const started = await home.call("account.startPasskey", { proof: PASSWORD });
    if (!started.ok) throw new Error(started.message);
    const response = device.make(started.data as { challenge: string });
    expect(await home.call("account.addPasskey", { response, name: "Key" })).toMatchObject({ ok: true });
    const visitor = open();
    const asked = await (await visitor.post("passkey/autofill", {})).json();
    expect((await visitor.submit("callback/passkey", { response: device.use(asked) })).isIn).toBe(true);
    expect((await noticesTo(user)).map(methodOf)).toEqual(["passkey"]);
  });
});
