import { eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { accounts } from "#db/schema/account";
import { users } from "#db/schema/teams";
import { getSession } from "#server/auth";
import type { OidcClient } from "#server/auth/providers";
import { openConsole, PASSWORD } from "../support/console/console";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { type OpenIdAccount, startOpenIdProvider } from "../support/servers/openid-provider";

type Issuer = Awaited<ReturnType<typeof startOpenIdProvider>>;

const console = await openConsole();
const redirectUri = `${console.deps.url}/api/auth/callback/oidc`;
const issuer = await startOpenIdProvider({ redirectUri });
/** Names the claims of a user only at its userinfo endpoint. */
const other = await startOpenIdProvider({ redirectUri, userinfoOnly: true });
afterAll(async () => {
  await issuer.close();
  await other.close();
});

let addresses = 0;
let subs = 0;
/** A browser at an installation with this issuer. */
const open = (at: Issuer = issuer, settings: Partial<OidcClient> = {}): SignInVisitor => {
  const oidc = { ...at.client, issuer: at.url, name: "Example Inc.", trustsEmail: false, ...settings };
  const deps = { ...console.deps, providers: { oidc } };
  return openVisitor(deps, { address: `198.51.100.${++addresses}` });
};
/** The URL of the provider to which the sign-in page redirects. */
async function begin(visitor: SignInVisitor, landing = "/console/emails"): Promise<string> {
  const { to, error } = await visitor.submit("signin/oidc", { callbackUrl: landing });
  expect(error).toBeNull();
  return to;
}
/** Follows the redirects from the provider's last one to a page. */
async function arrive(visitor: SignInVisitor, back: string) {
  let at = new URL(back);
  for (let hops = 0; at.pathname.startsWith("/api/auth/") && hops < 5; hops++) {
    const response = await visitor.get(`${at.pathname.slice("/api/auth/".length)}${at.search}`);
    at = new URL(response.headers.get("location") ?? "/nowhere", at);
  }
  expect(at.origin).toBe(console.deps.url);
  const isIn = (await getSession(console.deps, visitor.cookies)) !== null;
  return { to: at.pathname, error: at.searchParams.get("error"), isIn };
}
async function signInAs(account: OpenIdAccount & { sub?: string }, at = issuer, visitor = open(at)) {
  const { sub = `sub-${++subs}`, ...claims } = account;
  at.setAccount(sub, claims);
  const result = await arrive(visitor, await at.authorize(await begin(visitor), sub));
  return { ...result, visitor, sub };
}
const changed = (address: string, name: string, value: string) => {
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
};
const linkedTo = (userId: string) =>
  console.deps.db.select().from(accounts).where(eq(accounts.userId, userId));
const rejected = { to: "/login", error: "OAuthCallback", isIn: false };
const unknown = { to: "/login", error: "NoAccount", isIn: false };

describe("signing in with an OpenID provider", () => {
  test("discovers its endpoints and sends a request that is bound to the browser", async () => {
    const { origin, searchParams } = new URL(await begin(open()));
    expect(origin).toBe(issuer.url);
    expect(searchParams.get("redirect_uri")).toBe(`${console.deps.url}/api/auth/callback/oidc`);
    expect(searchParams.get("scope")).toBe("openid email profile");
    expect(searchParams.get("code_challenge_method")).toBe("S256");
    for (const name of ["state", "nonce", "code_challenge"])
      expect(searchParams.get(name), name).toMatch(/^[\w-]{40,}$/);
  });

  test.each([
    ["in the ID token", () => issuer],
    ["at the userinfo endpoint", () => other],
  ])("signs in the user with the verified address %s", async (_where, at) => {
    const user = await console.person();
    const { visitor, sub, ...result } = await signInAs(
      { email: user.email.toUpperCase(), email_verified: true },
      at(),
    );
    expect(result).toEqual({ to: "/console/emails", error: null, isIn: true });
    expect((await getSession(console.deps, visitor.cookies))?.user.id).toBe(user.id);
    expect(await linkedTo(user.id)).toMatchObject([
      { provider: "oidc", providerAccountId: `${at().url} ${sub}` },
    ]);
    expect(await visitor.query("account.signInMethods")).toMatchObject({
      data: { accounts: [{ provider: "oidc", name: "Example Inc.", linked: { email: user.email } }] },
    });
  });

  test("signs in the linked user after the address has changed", async () => {
    const [user, second] = [await console.person(), await console.person()];
    const { sub } = await signInAs({ email: user.email, email_verified: true });
    const { visitor } = await signInAs({ sub, email: second.email, email_verified: true });
    expect((await getSession(console.deps, visitor.cookies))?.user.id).toBe(user.id);
    expect(await linkedTo(second.id)).toEqual([]);
  });

  test("rejects an unverified address, one without the claim, and an unknown one, and creates no user", async () => {
    const user = await console.person();
    const before = await console.deps.db.$count(users);
    for (const account of [
      { email: user.email, email_verified: false },
      { email: user.email },
      { email_verified: true },
      { email: "stranger@elsewhere.example", email_verified: true },
    ])
      expect(await signInAs(account), JSON.stringify(account)).toMatchObject(unknown);
    expect(await console.deps.db.$count(users)).toBe(before);
    expect(await linkedTo(user.id)).toEqual([]);
  });

  test("accepts an address without the claim if the operator says so, but none that is stated to be unverified", async () => {
    const user = await console.person();
    const trusting = () => open(issuer, { trustsEmail: true });
    const unverified = { email: user.email, email_verified: false };
    expect(await signInAs(unverified, issuer, trusting())).toMatchObject(unknown);
    expect(await signInAs({ email: user.email }, issuer, trusting())).toMatchObject({ isIn: true });
  });

  test("does not take the account of another issuer for the same one, and replaces that of a former issuer", async () => {
    const [user, second] = [await console.person(), await console.person()];
    const { sub } = await signInAs({ email: user.email, email_verified: true });
    const foreign = await signInAs({ sub, email: second.email, email_verified: true }, other);
    expect((await getSession(console.deps, foreign.visitor.cookies))?.user.id).toBe(second.id);
    const moved = await signInAs({ email: user.email, email_verified: true }, other);
    expect((await getSession(console.deps, moved.visitor.cookies))?.user.id).toBe(user.id);
    expect(await linkedTo(user.id)).toMatchObject([{ providerAccountId: `${other.url} ${moved.sub}` }]);
    const again = await signInAs({ email: user.email, email_verified: true }, other);
    expect(again).toMatchObject(unknown);
  });
});

describe("a sign-in with an OpenID provider is rejected", () => {
  const account = async () => {
    const user = await console.person();
    const sub = `sub-${++subs}`;
    issuer.setAccount(sub, { email: user.email, email_verified: true });
    return { user, sub };
  };

  test("with another nonce or state, and in another browser", async () => {
    const { user, sub } = await account();
    for (const name of ["nonce", "state"]) {
      const visitor = open();
      const request = changed(await begin(visitor), name, "x".repeat(43));
      expect(await arrive(visitor, await issuer.authorize(request, sub)), name).toEqual(rejected);
    }
    const back = await issuer.authorize(await begin(open()), sub);
    expect(await arrive(open(), back)).toEqual(rejected);
    expect(await linkedTo(user.id)).toEqual([]);
  });

  test("if the metadata names another issuer than the settings", async () => {
    const { user, sub } = await account();
    // The same server under another name: its tokens are of the issuer with the IP address.
    const visitor = open(issuer, { issuer: issuer.url.replace("127.0.0.1", "localhost") });
    const result = await arrive(visitor, await issuer.authorize(await begin(visitor), sub));
    expect(result).toEqual(rejected);
    expect(await linkedTo(user.id)).toEqual([]);
  });

  test("while the issuer is down, which affects no other method", async () => {
    const { user, sub } = await account();
    const visitor = open();
    const back = await issuer.authorize(await begin(visitor), sub);
    const down = { issuer: "http://127.0.0.1:1" };
    const lost = open(issuer, down);
    for (const [name, value] of visitor.jar) lost.jar.set(name, value);
    expect(await arrive(lost, back)).toEqual(rejected);
    expect(await open(issuer, down).submit("signin/oidc", {})).toMatchObject({
      error: "OAuthSignin",
      isIn: false,
    });
    expect((await open(issuer, down).signIn(user.email, PASSWORD)).isIn).toBe(true);
  });
});
