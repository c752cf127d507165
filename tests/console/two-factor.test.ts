import { and, eq, isNull, sql } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { accountEvents, twoFactorChallenges } from "#db/schema/account";
import { sessions } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { CODE_ATTEMPTS_MAX } from "#server/services/account/factors/codes";
import { admit } from "#server/services/account/sign-in/admit";
import { endSessionsExcept, lockUser } from "#server/services/people/lock";
import { setPassword, type User } from "#server/services/people/users";
import { codeOf, enrol } from "../support/console/authenticator-app";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import { openSignedIn, openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { waitForLock } from "../support/database/lock-wait";

let nowMs = Date.now();
/** It moves only when a test advances it: a time step never ends between two calls. */
const clock = {
  now: () => new Date(nowMs),
  advance: (ms: number) => {
    nowMs += ms;
  },
};
const console = await openConsole(FOR_CONCURRENT_CALLS);
console.deps.clock = clock.now;

let user: User;
let home: SignInVisitor;
let secret: string;
let codes: string[];
let addresses = 0;

/** A browser with a unique IP address: rate limits of one test do not affect another. */
const stranger = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });
/** A browser after the password of a user, who signs in with it alone if 2FA is off. */
const challenged = async ({ email } = user) => {
  const visitor = stranger();
  await visitor.signIn(email, PASSWORD);
  return visitor;
};
const code = (steps = 0) => codeOf(secret, clock.now(), steps);
/** A code of an unused time step: advances the clock by one step. */
const nextCode = () => {
  clock.advance(30_000);
  return code();
};
const wrong = () => {
  const taken = new Set([-2, -1, 0, 1, 2].map((steps) => code(steps)));
  return ["111111", "222222", "333333", "444444", "555555", "666666"].find((each) => !taken.has(each)) ?? "";
};
const sessionsOf = (userId: string) =>
  console.deps.db.$count(sessions, and(eq(sessions.userId, userId), isNull(sessions.revokedAt)));

beforeEach(async () => {
  user = await console.person();
  home = await openSignedIn(console.deps, user.id, `203.0.113.${++addresses}`);
  // At the start of a time step, so that the setup and the test have the same one.
  clock.advance(30_000 - (clock.now().getTime() % 30_000));
  ({ secret, recoveryCodes: codes } = await enrol(home, PASSWORD, clock.now()));
});

describe("a user with an authenticator app", () => {
  test("gets no session from the password alone, in the browser or in the database", async () => {
    const visitor = stranger();
    const before = await sessionsOf(user.id);
    const first = await visitor.signIn(user.email, PASSWORD);
    expect(first).toMatchObject({ isIn: false, error: null });
    expect(first.to).toMatch(/^\/login\/two-factor\?/);
    expect(await sessionsOf(user.id)).toBe(before);
    expect(await getSession(console.deps, visitor.cookies)).toBeNull();
    expect((await visitor.query("account.signInMethods")).ok).toBe(false);
  });

  test("signs in with the code, which uses up the 2FA challenge", async () => {
    const visitor = await challenged();
    const step = visitor.jar.get("__Host-backstamp.step") ?? "";
    expect(await visitor.submitCode(nextCode())).toMatchObject({ isIn: true, error: null });
    expect(visitor.jar.has("__Host-backstamp.step")).toBe(false);
    expect((await getSession(console.deps, visitor.cookies))?.user.id).toBe(user.id);
    const again = stranger();
    again.jar.set("__Host-backstamp.step", step);
    expect(await again.submitCode(nextCode())).toMatchObject({ isIn: false, error: "Expired" });
  });

  test("cannot sign in without 2FA by any method", async () => {
    for (const method of ["password", "link", "github", "google", "oidc"] as const) {
      const visitor = { address: "198.51.100.250", userAgent: null };
      const before = await sessionsOf(user.id);
      expect((await admit(console.deps, { user, method, visitor })).kind).toBe("two_factor");
      expect(await sessionsOf(user.id)).toBe(before);
    }
  });

  test("loses all sessions that were opened without 2FA", async () => {
    const other = await console.person();
    const [here, there] = [stranger(), stranger()];
    await here.signIn(other.email, PASSWORD);
    await there.signIn(other.email, PASSWORD);
    await enrol(here, PASSWORD, clock.now());
    expect(await getSession(console.deps, here.cookies)).not.toBeNull();
    expect(await getSession(console.deps, there.cookies)).toBeNull();
  });
});

describe("a TOTP code", () => {
  test("is accepted at most one time step early or late", async () => {
    for (const [steps, isRight] of [
      [-2, false],
      [-1, true],
      [1, true],
      [2, false],
    ] as const) {
      clock.advance(300_000);
      const visitor = await challenged();
      expect((await visitor.submitCode(code(steps))).isIn, `${steps}`).toBe(isRight);
    }
  });

  test("is accepted once, also concurrently, and no earlier code is accepted after it", async () => {
    clock.advance(60_000);
    const [first, second, third] = [stranger(), stranger(), stranger()];
    for (const visitor of [first, second, third]) await visitor.signIn(user.email, PASSWORD);
    const same = code();
    const earlier = code(-1);
    const both = await Promise.all([first.submitCode(same), second.submitCode(same)]);
    expect(both.map(({ isIn }) => isIn).sort()).toEqual([false, true]);
    expect(await third.submitCode(earlier)).toMatchObject({ isIn: false, error: "CredentialsSignin" });
  });

  test("used for the setup is not accepted for a sign-in", async () => {
    const visitor = await challenged();
    expect((await visitor.submitCode(code())).isIn).toBe(false);
  });

  test("can be attempted a few times per challenge, and then the sign-in starts again", async () => {
    const visitor = await challenged();
    for (let i = 0; i < CODE_ATTEMPTS_MAX.step; i++)
      expect((await visitor.submitCode(wrong())).error).toBe("CredentialsSignin");
    expect(await visitor.submitCode(nextCode())).toMatchObject({ isIn: false, error: "Expired" });
    await visitor.signIn(user.email, PASSWORD);
    expect((await visitor.submitCode(nextCode())).isIn).toBe(true);
  });

  test("cannot be guessed from many IP addresses, and the user is not locked out meanwhile", async () => {
    // All but the last guess of an hour, each from another IP address.
    await console.world.hot`
      insert into account_events (id, user_id, kind, address)
      select uuid_v7(), ${user.id}, 'code_refused', '203.0.114.' || n
      from generate_series(2, ${CODE_ATTEMPTS_MAX.accountFromStrangers}::int) n`;
    const last = await challenged();
    expect((await last.submitCode(wrong())).error).toBe("CredentialsSignin");
    expect((await last.submitCode(wrong())).error).toBe("TooManyAttempts");
    const late = await challenged();
    expect((await late.submitCode(nextCode())).error).toBe("TooManyAttempts");
    expect((await late.submitCode(codes[0] ?? "")).isIn).toBe(true);
    await home.signIn(user.email, PASSWORD);
    expect((await home.submitCode(nextCode())).isIn).toBe(true);
  });
});

describe("a 2FA challenge", () => {
  test("expires after five minutes, and requires its cookie", async () => {
    const visitor = await challenged();
    await console.deps.db
      .update(twoFactorChallenges)
      .set({ expiresAt: sql`now() - interval '1 second'` })
      .where(eq(twoFactorChallenges.userId, user.id));
    expect((await visitor.submitCode(nextCode())).error).toBe("Expired");
    expect((await stranger().submitCode(nextCode())).error).toBe("Expired");
  });

  test("started with a password is deleted when the password changes", async () => {
    const visitor = stranger();
    const next = "another long phrase";
    await visitor.signIn(user.email, PASSWORD);
    expect(await home.call("account.changePassword", { current: PASSWORD, next })).toMatchObject({
      ok: true,
    });
    expect((await visitor.submitCode(nextCode())).error).toBe("Expired");
    await visitor.signIn(user.email, next);
    await setPassword(console.deps, { userId: user.id, password: PASSWORD });
    expect((await visitor.submitCode(nextCode())).error).toBe("Expired");
    await visitor.signIn(user.email, PASSWORD);
    expect((await visitor.submitCode(nextCode())).isIn).toBe(true);
  });

  test("rejects the code of another user", async () => {
    const other = await console.person();
    const theirs = await challenged(other);
    const { secret: foreign } = await enrol(theirs, PASSWORD, clock.now());
    const visitor = await challenged();
    clock.advance(30_000);
    expect((await visitor.submitCode(codeOf(foreign, clock.now()))).isIn).toBe(false);
  });
});

describe("a recovery code", () => {
  test("works once, however it is typed, and is recorded in the account events", async () => {
    expect(codes).toHaveLength(10);
    const typed = (codes[3] ?? "").toLowerCase().replaceAll("-", " ");
    for (const isRight of [true, false]) {
      const visitor = await challenged();
      expect((await visitor.submitCode(typed)).isIn).toBe(isRight);
    }
    const events = await console.deps.db
      .select()
      .from(accountEvents)
      .where(eq(accountEvents.userId, user.id));
    expect(events.filter(({ kind }) => kind === "recovery_code_used")).toHaveLength(1);
  });

  test("is invalid once new codes were created", async () => {
    const renewed = await home.call("account.renewRecoveryCodes", { proof: PASSWORD });
    expect(renewed).toMatchObject({ ok: true });
    const visitor = await challenged();
    expect((await visitor.submitCode(codes[0] ?? "")).isIn).toBe(false);
    const fresh = (renewed as { data: { recoveryCodes: string[] } }).data.recoveryCodes;
    expect((await visitor.submitCode(fresh[0] ?? "")).isIn).toBe(true);
  });
});

describe("stored 2FA data", () => {
  test("is bound to its user: an encrypted secret copied to another row does not work", async () => {
    const other = await console.person();
    await console.deps.db.execute(sql`insert into totp_factors (user_id, secret, confirmed_at)
      select ${other.id}, secret, now() from totp_factors where user_id = ${user.id}`);
    const visitor = await challenged(other);
    expect(await visitor.submitCode(nextCode())).toMatchObject({ isIn: false, error: "Unavailable" });
  });
});

describe("setting up an app", () => {
  test("takes effect only after the confirmation with a code", async () => {
    const other = await console.person();
    const visitor = await challenged(other);
    const started = await visitor.call("account.startAuthenticator", { proof: PASSWORD });
    expect(started).toMatchObject({ ok: true });
    const { uri } = (started as { data: { uri: string } }).data;
    expect(uri).toMatch(/^otpauth:\/\/totp\/Backstamp%20mail\.example\.org:/);
    expect((await stranger().signIn(other.email, PASSWORD)).isIn).toBe(true);
    const refused = await visitor.call("account.confirmAuthenticator", { code: "000000" });
    expect(refused).toMatchObject({ ok: false, code: "UNPROCESSABLE_CONTENT" });
    expect((await stranger().signIn(other.email, PASSWORD)).isIn).toBe(true);
  });

  test("is rejected after the session was ended during verification", async () => {
    const other = await console.person();
    const visitor = await challenged(other);
    const started = await visitor.call("account.startAuthenticator", { proof: PASSWORD });
    const { secret: setupSecret } = (started as { data: { secret: string } }).data;
    const { confirming } = await console.deps.db.transaction(async (tx) => {
      await lockUser(tx, other.id);
      const given = { code: codeOf(setupSecret, clock.now()) };
      const confirming = visitor.call("account.confirmAuthenticator", given);
      await waitForLock(console.world.hot);
      await endSessionsExcept(tx, other.id, null);
      return { confirming };
    });
    expect(await confirming).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
    expect((await stranger().signIn(other.email, PASSWORD)).isIn).toBe(true);
  });

  test("requires the password, as does the removal; a code is also accepted", async () => {
    for (const [procedure, proof] of [
      ["account.removeAuthenticator", wrong()],
      ["account.renewRecoveryCodes", ""],
      ["account.startPasskey", "not the password"],
    ] as const)
      expect(await home.call(procedure, { proof }), procedure).toMatchObject({ ok: false });
    expect(await home.call("account.startAuthenticator", { proof: PASSWORD })).toMatchObject({
      ok: false,
      code: "CONFLICT",
    });
    expect(await home.call("account.removeAuthenticator", { proof: nextCode() })).toMatchObject({ ok: true });
    expect((await stranger().signIn(user.email, PASSWORD)).isIn).toBe(true);
    expect(await home.query("account.signInMethods")).toMatchObject({
      data: { hasAuthenticator: false, recoveryCodesLeft: 0 },
    });
  });
});

describe("the routes below /api/auth", () => {
  test("accept a 2FA code or a passkey only from our own pages", async () => {
    const visitor = await challenged();
    const { csrfToken } = await (await visitor.get("csrf")).json();
    for (const path of ["callback/two-factor", "callback/passkey", "passkey/options", "passkey/autofill"])
      for (const origin of ["https://evil.example", "null", `${console.deps.url}.evil.example`]) {
        const response = await visitor.post(path, { csrfToken, code: code() }, { origin });
        expect(response.status, `${path} ${origin}`).toBe(403);
        expect(response.headers.get("cache-control")).toBe("no-store");
      }
    for (const path of ["callback/github", "signin/github", "callback/nothing", "_log"])
      expect((await visitor.post(path, { csrfToken })).status, path).toBe(404);
  });

  test("are not cached, and set cookies that are hidden from scripts and other sites", async () => {
    const visitor = stranger();
    for (const path of ["csrf", "session", "providers"])
      expect((await visitor.get(path)).headers.get("cache-control"), path).toBe("no-store");
    const { csrfToken } = await (await visitor.get("csrf")).json();
    const fields = { email: user.email, password: PASSWORD, csrfToken, json: "true" };
    const answer = await visitor.post("callback/credentials", fields);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const cookie = answer.headers.getSetCookie().find((each) => each.startsWith("__Host-backstamp.step="));
    expect(cookie).toMatch(/; Path=\/; Max-Age=300; HttpOnly; SameSite=Lax; Secure$/);
  });
});
