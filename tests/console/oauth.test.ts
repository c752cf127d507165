import { eq } from "drizzle-orm";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { accounts } from "#db/schema/account";
import { memberships, sessions, users } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { inviteMember } from "#server/services/members/invitations/send";
import { findUser } from "#server/services/people/users";
import { codeOf, enrol } from "../support/console/authenticator-app";
import { noCookies, openConsole, PASSWORD } from "../support/console/console";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { type IssuerAccount, startOauthIssuer } from "../support/servers/oauth-issuer";

let nowMs = Date.now();
/** It moves only when a test advances it: a time step never ends between two calls. */
const clock = {
  now: () => new Date(nowMs),
  advance: (ms: number) => {
    nowMs += ms;
  },
};
const console = await openConsole();
const issuer = await startOauthIssuer();
console.deps.clock = clock.now;
console.deps.providers = issuer.providers;
afterEach(() => issuer.fail(null));
afterAll(() => issuer.close());

const PROVIDERS = ["github", "google"] as const;
type Provider = (typeof PROVIDERS)[number];
let subs = 1_000;
const sub = () => String(++subs);
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });

/** Follows redirects until a page is reached. */
async function arrive(visitor: SignInVisitor, address: string) {
  let at = new URL(address);
  for (let hops = 0; at.pathname.startsWith("/api/auth/") && hops < 5; hops++) {
    const response = await visitor.get(`${at.pathname.slice("/api/auth/".length)}${at.search}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    at = new URL(response.headers.get("location") ?? "/nowhere", at);
  }
  expect(at.origin).toBe(console.deps.url);
  const error = at.searchParams.get("error");
  // After an error the requested page stays in the URL, for the next sign-in.
  return {
    to: error ? at.pathname : `${at.pathname}${at.search}`,
    error,
    isIn: (await getSession(console.deps, visitor.cookies)) !== null,
  };
}
const begin = async (visitor: SignInVisitor, provider: Provider, landing = "/console/emails") =>
  (await visitor.submit(`signin/${provider}`, { callbackUrl: landing })).to;
const signInAs = async (provider: Provider, account: IssuerAccount, visitor = open()) => ({
  visitor,
  ...(await arrive(visitor, issuer.approve(await begin(visitor, provider), account))),
});
const linkedTo = async (userId: string) =>
  console.deps.db.select().from(accounts).where(eq(accounts.userId, userId));

describe.each(PROVIDERS)("signing in with %s", (provider) => {
  test("redirects to the provider with a request that is bound to the browser", async () => {
    expect((await open().get(`signin/${provider}`)).status).toBe(405);
    const asked = new URL(await begin(open(), provider));
    expect(asked.origin).toBe(issuer.url);
    const { searchParams } = asked;
    expect(searchParams.get("redirect_uri")).toBe(`${console.deps.url}/api/auth/callback/${provider}`);
    expect(searchParams.get("code_challenge_method")).toBe("S256");
    for (const name of ["state", "code_challenge", ...(provider === "google" ? ["nonce"] : [])])
      expect(searchParams.get(name), name).toMatch(/^[\w-]{40,}$/);
  });

  test("signs in the user with its verified address, in any letter case, and opens the requested page", async () => {
    const user = await console.person();
    const account = { sub: sub(), email: user.email.toUpperCase() };
    const { visitor, to, error, isIn } = await signInAs(provider, account);
    expect({ to, error, isIn }).toEqual({ to: "/console/emails", error: null, isIn: true });
    expect((await getSession(console.deps, visitor.cookies))?.user.id).toBe(user.id);
    expect(await linkedTo(user.id)).toMatchObject([{ provider, providerAccountId: account.sub }]);
    expect(await visitor.query("account.events")).toMatchObject({
      data: [{ kind: "signed_in" }, { kind: "account_linked" }],
    });
  });

  test("rejects an unverified and an unknown address with the same result, and creates no user", async () => {
    const user = await console.person();
    const before = await console.deps.db.$count(users);
    const unverified = await signInAs(provider, { sub: sub(), email: user.email, isVerified: false });
    const unknown = await signInAs(provider, { sub: sub(), email: "stranger@elsewhere.example" });
    for (const { to, error, isIn } of [unverified, unknown])
      expect({ to, error, isIn }).toEqual({ to: "/login", error: "NoAccount", isIn: false });
    expect(await console.deps.db.$count(users)).toBe(before);
    expect(await linkedTo(user.id)).toEqual([]);
  });
});

describe("signing in with either provider", () => {
  const provider = "google";

  test("returns to the public URL, whatever host the request names", async () => {
    const visitor = open();
    const { csrfToken } = await (await visitor.get("csrf")).json();
    const answer = await visitor.post(
      `signin/${provider}`,
      { csrfToken, json: "true" },
      { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
    );
    const asked = new URL((await answer.json()).url);
    expect(asked.searchParams.get("redirect_uri")).toBe(`${console.deps.url}/api/auth/callback/${provider}`);
  });

  test("does not link a second account of the provider to a user", async () => {
    const user = await console.person();
    await signInAs(provider, { sub: sub(), email: user.email });
    const other = await signInAs(provider, { sub: sub(), email: user.email });
    expect(other).toMatchObject({ isIn: false, error: "NoAccount" });
  });

  test("creates a user only for a pending invitation", async () => {
    const email = `invited-${provider}@example.org`;
    const { teamId } = console.world.ctx;
    const insert = (address: string, expires: string) => console.world.hot`
      insert into invitations (team_id, id, email, role, token_hash, expires_at) values
        (${teamId}, gen_random_uuid(), ${address}, 'member', ${Buffer.from(address)}, now() + ${expires}::interval)`;
    await insert(email, "1 day");
    await insert(`late-${email}`, "-1 day");
    expect(await signInAs(provider, { sub: sub(), email: `late-${email}` })).toMatchObject({
      error: "NoAccount",
    });
    expect(await signInAs(provider, { sub: sub(), email, name: "Ann" })).toMatchObject({ isIn: true });
    const made = await findUser(console.deps, email);
    expect(made).toMatchObject({ email });
    const joined = await console.deps.db
      .select()
      .from(memberships)
      .where(eq(memberships.userId, made?.id ?? ""));
    expect(joined).toMatchObject([{ teamId, role: "member" }]);
    expect((await open().signIn(email, "")).isIn).toBe(false);
  });

  test("removes password, factors and sessions that were set up before the address was verified", async () => {
    const email = `boss-${provider}@example.org`;
    const { link } = await inviteMember(console.world.ctx, { email, role: "member" });
    const token = new URL(link).hash.slice(1);
    await console.callerOf(noCookies).invitations.accept({ token, name: "Boss", password: PASSWORD });
    const inviter = open();
    expect((await inviter.signIn(email, PASSWORD)).isIn).toBe(true);
    await enrol(inviter, PASSWORD, clock.now());
    const pending = open();
    await pending.signIn(email, PASSWORD);

    const account = { sub: sub(), email };
    const { visitor, isIn } = await signInAs(provider, account);
    expect(isIn).toBe(true);
    expect(await getSession(console.deps, inviter.cookies)).toBeNull();
    expect(await open().signIn(email, PASSWORD)).toMatchObject({ isIn: false, error: "CredentialsSignin" });
    clock.advance(30_000);
    expect((await pending.submitCode("000000")).error).toBe("Expired");
    expect(await visitor.query("account.signInMethods")).toMatchObject({
      data: { hasPassword: false, hasAuthenticator: false, recoveryCodesLeft: 0, passkeys: [] },
    });
    expect(await visitor.query("account.events")).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ kind: "address_verified" })]),
    });
    await enrol(visitor, "", clock.now());
    expect((await signInAs(provider, account)).to).toMatch(/^\/login\/two-factor/);
    expect(await getSession(console.deps, visitor.cookies)).not.toBeNull();
  });

  test("requires 2FA of a user who has it on, and then opens the requested page", async () => {
    const user = await console.person();
    const home = open();
    await home.signIn(user.email, PASSWORD);
    const { secret } = await enrol(home, PASSWORD, clock.now());
    const count = () => console.deps.db.$count(sessions, eq(sessions.userId, user.id));
    const before = await count();
    const { visitor, to, isIn } = await signInAs(provider, { sub: sub(), email: user.email });
    expect({ to, isIn }).toEqual({ to: "/login/two-factor?callbackUrl=%2Fconsole%2Femails", isIn: false });
    expect(await count()).toBe(before);
    clock.advance(30_000);
    expect((await visitor.submitCode(codeOf(secret, clock.now()))).isIn).toBe(true);
  });

  test("is rejected with a state that is wrong, missing, used or of another browser", async () => {
    const user = await console.person();
    const account = { sub: sub(), email: user.email };
    const visitor = open();
    const changed = (address: string, state: string | null) => {
      const url = new URL(address);
      if (state === null) url.searchParams.delete("state");
      else url.searchParams.set("state", state);
      return url.href;
    };
    for (const state of ["x".repeat(43), null]) {
      const back = changed(issuer.approve(await begin(visitor, provider), account), state);
      expect(await arrive(visitor, back), String(state)).toEqual(rejected);
    }
    const elsewhere = issuer.approve(await begin(visitor, provider), account);
    expect(await arrive(open(), elsewhere)).toEqual(rejected);
    const good = issuer.approve(await begin(visitor, provider), account);
    const kept = new Map(visitor.jar);
    expect((await arrive(visitor, good)).isIn).toBe(true);
    const again = open();
    for (const [name, value] of kept) if (!name.includes("session")) again.jar.set(name, value);
    expect(await arrive(again, good)).toEqual(rejected);
    visitor.jar.delete("__Host-backstamp.session");
    expect(await arrive(visitor, good)).toEqual(rejected);
  });

  test("is rejected without the PKCE verifier or with an earlier one", async () => {
    const user = await console.person();
    const account = { sub: sub(), email: user.email };
    const verifier = (visitor: SignInVisitor) =>
      [...visitor.jar.keys()].find((name) => name.includes("pkce")) ?? "none";
    const without = open();
    const first = issuer.approve(await begin(without, provider), account);
    expect(without.jar.delete(verifier(without))).toBe(true);
    expect(await arrive(without, first)).toEqual(rejected);
    const [mine, theirs] = [open(), open()];
    const second = issuer.approve(await begin(mine, provider), account);
    await begin(theirs, provider);
    mine.jar.set(verifier(mine), theirs.jar.get(verifier(theirs)) ?? "");
    expect(await arrive(mine, second)).toEqual(rejected);
  });

  test("shows an error if the provider rejects, is unavailable or returns an invalid response", async () => {
    const user = await console.person();
    const account = { sub: sub(), email: user.email };
    for (const fault of ["down", "error", "garbage"] as const) {
      issuer.fail(null);
      const visitor = open();
      const back = issuer.approve(await begin(visitor, provider), account);
      issuer.fail(fault);
      expect(await arrive(visitor, back), fault).toEqual(rejected);
    }
    issuer.fail(null);
    const visitor = open();
    await begin(visitor, provider);
    const denied = `${console.deps.url}/api/auth/callback/${provider}?error=access_denied&error_description=%3Cb%3E`;
    expect(await arrive(visitor, denied)).toEqual({ ...rejected, error: "Callback" });
  });
});

const rejected = { to: "/login", error: "OAuthCallback", isIn: false };

test("rejects an id token that is expired, for another audience, of another key or with another nonce", async () => {
  const user = await console.person();
  const account = { sub: sub(), email: user.email };
  for (const fault of ["nonce", "signature", "audience", "expired"] as const) {
    issuer.fail(fault);
    expect(await signInAs("google", account), fault).toMatchObject(rejected);
  }
});

test("reports an unreachable provider before the redirect", async () => {
  issuer.fail("down");
  const visitor = open();
  expect(await visitor.submit("signin/google", {})).toMatchObject({ error: "OAuthSignin", isIn: false });
});

test("a provider that is not configured cannot be used", async () => {
  const deps = { ...console.deps, providers: {} };
  const visitor = openVisitor(deps);
  for (const provider of PROVIDERS) {
    expect((await visitor.post(`signin/${provider}`, {})).status).toBe(404);
    expect((await visitor.get(`callback/${provider}?code=x&state=y`)).status).toBe(404);
  }
});

test("stores and logs only the id and the verified address from a provider's response", async () => {
  const rows = JSON.stringify(await console.deps.db.select().from(accounts));
  const lines = JSON.stringify(console.lines);
  for (const text of ["the secret of a client", "access_token", "id_token", "eyJ"]) {
    expect(rows).not.toContain(text);
    expect(lines).not.toContain(text);
  }
});
