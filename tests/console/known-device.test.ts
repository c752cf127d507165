import { describe, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { visitorOf } from "#server/platform/http/visitor";
import { CODE_ATTEMPTS_MAX } from "#server/services/account/factors/codes";
import { createTwoFactorChallenge } from "#server/services/account/factors/two-factor-challenge";
import { SIGN_IN_ATTEMPTS_PER_MINUTE } from "#server/services/account/sign-in/sign-in";
import { LINK_CALLS_PER_MINUTE } from "#server/services/account/sign-in/sign-in-by-email";
import { createSignInToken } from "#server/services/people/sign-in-tokens";
import { openConsole, PASSWORD } from "../support/console/console";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";

const console = await openConsole();

const NAME = "__Host-backstamp.device";
const SESSION = "__Host-backstamp.session";
let addresses = 0;
const open = (address = `198.51.100.${++addresses}`) => openVisitor(console.deps, { address });
const wrong = "not the password";
/** Exhausts a limit like wrong passwords do, without the cost of verifying each. */
const exhaust = async (bucket: string, limit: number) => {
  while (await console.deps.signInLimiter.take(bucket, limit));
};
const withCookie = (visitor: SignInVisitor, cookie: string | undefined) => {
  visitor.jar.set(NAME, cookie ?? "");
  return visitor;
};

describe("a known browser", () => {
  test("lets its user sign in while attackers exhaust every limit, behind the same proxy and elsewhere", async () => {
    const [user, other] = [await console.person(), await console.person()];
    const proxy = "203.0.113.1";
    const [home, foreign] = [open(proxy), open()];
    expect((await home.signIn(user.email, PASSWORD)).isIn).toBe(true);
    await foreign.signIn(other.email, PASSWORD);
    await exhaust(`address:${proxy}`, SIGN_IN_ATTEMPTS_PER_MINUTE.address);
    await exhaust(`account:${user.email}`, SIGN_IN_ATTEMPTS_PER_MINUTE.accountFromStrangers);

    const cookie = home.jar.get(NAME);
    expect(await open(proxy).signIn(user.email, PASSWORD)).toMatchObject({ error: "TooManyAttempts" });
    expect(await open().signIn(user.email, PASSWORD)).toMatchObject({ error: "TooManyAttempts" });
    for (const place of [proxy, "192.0.2.77"])
      expect((await withCookie(open(place), cookie).signIn(user.email, PASSWORD)).isIn, place).toBe(true);
    const stolen = withCookie(open(proxy), foreign.jar.get(NAME));
    expect(await stolen.signIn(user.email, PASSWORD)).toMatchObject({
      isIn: false,
      error: "TooManyAttempts",
    });
  });

  test("has its own limit only for its own account; for other accounts the limit of its IP address applies", async () => {
    const [user, other] = [await console.person(), await console.person()];
    const [home, foreign] = [open(), open()];
    await home.signIn(user.email, PASSWORD);
    await foreign.signIn(other.email, PASSWORD);
    const own = home.jar.get(NAME);
    const place = "203.0.113.3";
    const requestLink = (email: string, cookie: string | undefined) =>
      withCookie(open(place), cookie).postJson("link/request", {
        kind: "sign_in_link",
        email,
        landing: "/console",
      });
    const stranger = open(place);
    for (let n = 0; n < LINK_CALLS_PER_MINUTE.requested; n++)
      await stranger.postJson("link/request", {
        kind: "sign_in_link",
        email: `x${n}@example.org`,
        landing: "/",
      });
    expect((await requestLink(other.email, own)).status).toBe(429);
    expect((await requestLink("nobody@example.org", own)).status).toBe(429);
    expect((await requestLink(user.email, own)).status).not.toBe(429);

    const openLink = (cookie: string | undefined) =>
      withCookie(open(place), cookie).postJson("link/read", { kind: "sign_in_link", token: "x".repeat(43) });
    for (let n = 0; n < LINK_CALLS_PER_MINUTE.opened; n++)
      expect((await openLink(undefined)).status).toBe(410);
    expect((await openLink(own)).status).toBe(429);
    const token = await createSignInToken(console.deps, {
      purpose: "sign_in_link",
      userId: user.id,
      minutes: 5,
    });
    const viewLink = (cookie: string | undefined) =>
      withCookie(open(place), cookie).postJson("link/read", { kind: "sign_in_link", token });
    expect((await viewLink(foreign.jar.get(NAME))).status).toBe(429);
    expect((await viewLink(own)).status).toBe(200);
  });

  test("counts towards the limit of its IP address for a passkey or a code of another account", async () => {
    const user = await console.person();
    const home = open();
    await home.signIn(user.email, PASSWORD);
    const place = "203.0.113.4";
    await exhaust(`passkey:${place}`, CODE_ATTEMPTS_MAX.addressPerMinute);
    await exhaust(`second:${place}`, CODE_ATTEMPTS_MAX.addressPerMinute);
    const stranger = withCookie(open(place), home.jar.get(NAME));
    expect((await stranger.post("passkey/options", {})).status).toBe(429);
    stranger.jar.set("__Host-backstamp.step", "x".repeat(43));
    expect((await stranger.submitCode("123456")).error).toBe("TooManyAttempts");
    const token = await createTwoFactorChallenge(console.deps.db, { userId: user.id, method: "password" });
    stranger.jar.set("__Host-backstamp.step", token);
    expect((await stranger.post("passkey/options", {})).status).toBe(200);
    expect((await stranger.submitCode("123456")).error).toBe("CredentialsSignin");
  });

  test("cannot guess faster than any other browser", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, PASSWORD);
    const errors: (string | null)[] = [];
    for (let n = 0; n <= SIGN_IN_ATTEMPTS_PER_MINUTE.device; n++)
      errors.push((await visitor.signIn(user.email, wrong)).error);
    expect(errors.at(-2)).toBe("CredentialsSignin");
    expect(errors.at(-1)).toBe("TooManyAttempts");
  });

  test("gets cookies that no script can read, the one of the device only after a complete sign-in", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, wrong);
    expect(visitor.jar.has(NAME)).toBe(false);
    const { csrfToken } = await (await visitor.get("csrf")).json();
    const fields = { email: user.email, password: PASSWORD, csrfToken, json: "true" };
    const answer = await visitor.post("callback/credentials", fields);
    const cookie = answer.headers.getSetCookie().find((each) => each.startsWith(`${NAME}=`));
    expect(cookie).toMatch(/; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure$/);
    expect(cookie).not.toContain(user.email);
    const session = answer.headers.getSetCookie().find((each) => each.startsWith(`${SESSION}=`));
    expect(session).toMatch(/; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    await visitor.submit("signout", {});
    expect(visitor.jar.has(NAME)).toBe(true);
  });

  test("is not recognized by a forged cookie, and the device cookie is not a session", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, PASSWORD);
    const session = visitor.jar.get(SESSION) ?? "";
    const cookie = visitor.jar.get(NAME) ?? "";
    const cookies = { get: () => ({ value: cookie }) };
    expect(await getSession(console.deps, cookies)).toBeNull();
    const address = "203.0.113.2";
    await exhaust(`address:${address}`, SIGN_IN_ATTEMPTS_PER_MINUTE.address);
    for (const made of [session, `${cookie}x`, "x", "a.b.c.d.e", "x".repeat(5_000)])
      expect((await withCookie(open(address), made).signIn(user.email, PASSWORD)).error).toBe(
        "TooManyAttempts",
      );
  });
});

describe("an untrusted proxy", () => {
  const warnings = (headers: Record<string, string>, trustedHops = 0) => {
    const before = console.lines.length;
    visitorOf({ ...console.deps, trustedHops }, new Headers({ "x-backstamp-peer": "127.0.0.1", ...headers }));
    return console.lines.slice(before).map(({ event }) => event);
  };

  test("is logged once, with the setting that would trust it", () => {
    expect(warnings({})).toEqual([]);
    expect(warnings({ "x-forwarded-for": "127.0.0.1" })).toEqual([]);
    expect(warnings({ "x-forwarded-for": "192.0.2.9" }, 1)).toEqual([]);
    expect(warnings({ "x-forwarded-for": "192.0.2.9" })).toEqual(["visitor.proxy_not_trusted"]);
    expect(console.lines.at(-1)?.facts).toMatchObject({ setting: "BACKSTAMP_TRUSTED_HOPS" });
    expect(warnings({ "x-forwarded-for": "192.0.2.10" })).toEqual([]);
  });
});
