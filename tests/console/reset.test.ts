import { afterAll, describe, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { createResetLink, OPERATOR_LINK_MINUTES } from "#server/services/account/sign-in/sign-in-by-email";
import { type User, verifyPassword } from "#server/services/people/users";
import { LINK_MINUTES } from "#server/services/system-mail/queue";
import { enrol } from "../support/console/authenticator-app";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import { openMailbox, tokenOf } from "../support/console/mailbox";
import { openVisitor } from "../support/console/sign-in-visitor";

const ANOTHER = "another password entirely";

const console = await openConsole(FOR_CONCURRENT_CALLS);
const mailbox = await openMailbox(console);
afterAll(() => mailbox.close());

let addresses = 0;
const stranger = () => openVisitor(console.deps, { address: `203.0.113.${++addresses}` });
const requestLink = (email: string) =>
  stranger().postJson("link/request", { kind: "password_reset", email, landing: "/console" });
const reset = (token: string, password = ANOTHER, visitor = stranger()) =>
  visitor.postJson("password/reset", { token, password });
const has = async (user: User, password: string) =>
  (await verifyPassword(console.deps, { email: user.email, password })) !== null;

async function mailed(): Promise<{ user: User; token: string }> {
  const user = await console.person();
  expect(await requestLink(user.email)).toMatchObject({ status: 202, reply: {} });
  const [link] = await mailbox.linksTo(user.email);
  expect(link?.pathname).toBe("/login/reset");
  return { user, token: tokenOf(link) };
}

describe("a password reset link", () => {
  test("changes the password once, ends every session, and opens none", async () => {
    const { user, token } = await mailed();
    const elsewhere = stranger();
    await elsewhere.signIn(user.email, PASSWORD);
    expect(await getSession(console.deps, elsewhere.cookies)).not.toBeNull();
    const visitor = stranger();
    expect(await reset(token, ANOTHER, visitor)).toMatchObject({ status: 200, reply: { email: user.email } });
    expect(visitor.jar.size).toBe(0);
    expect(await getSession(console.deps, elsewhere.cookies)).toBeNull();
    expect([await has(user, ANOTHER), await has(user, PASSWORD)]).toEqual([true, false]);
    expect((await reset(token, PASSWORD)).status).toBe(410);
    expect(await has(user, ANOTHER)).toBe(true);
  });

  test("stays valid after an invalid password, and the error gives the reason", async () => {
    const { user, token } = await mailed();
    for (const password of ["short", "x".repeat(257)])
      expect(await reset(token, password)).toMatchObject({
        status: 422,
        reply: { error: expect.stringMatching(/12 to 256/) },
      });
    expect(await has(user, PASSWORD)).toBe(true);
    expect((await reset(token)).status).toBe(200);
  });

  test("is rejected if it has expired, was changed or is for another purpose", async () => {
    const { user, token } = await mailed();
    await stranger().postJson("link/request", {
      kind: "sign_in_link",
      email: user.email,
      landing: "/console",
    });
    const signIn = (await mailbox.linksTo(user.email)).at(-1);
    expect(signIn?.pathname).toBe("/login/link");
    for (const bad of [tokenOf(signIn), token.toUpperCase(), `${token}A`, "", "\0"])
      expect((await reset(bad)).status, bad).toBe(410);
    await console.world.hot`
      update sign_in_tokens set expires_at = expires_at - ${LINK_MINUTES.password_reset} * interval '1 minute'`;
    expect((await reset(token)).status).toBe(410);
    expect(await has(user, PASSWORD)).toBe(true);
  });

  test("revokes all other links of the user", async () => {
    const { user, token } = await mailed();
    await requestLink(user.email);
    const second = tokenOf((await mailbox.linksTo(user.email)).at(-1));
    expect(second).not.toBe(token);
    expect((await reset(token)).status).toBe(200);
    expect((await reset(second, PASSWORD)).status).toBe(410);
  });

  test("does not bypass 2FA", async () => {
    const { user, token } = await mailed();
    const home = stranger();
    await home.signIn(user.email, PASSWORD);
    await enrol(home, PASSWORD, console.deps.clock());
    expect((await reset(token)).status).toBe(200);
    const visitor = stranger();
    expect(await visitor.signIn(user.email, ANOTHER)).toMatchObject({
      isIn: false,
      to: expect.stringMatching(/^\/login\/two-factor/),
    });
  });
});

describe("a reset link of the operator", () => {
  test("works without email, and changes nothing before it is used", async () => {
    const user = await console.person();
    console.deps.transportKind = "none";
    try {
      const { link } = await createResetLink(console.deps, user.email.toUpperCase());
      expect(link).toMatch(/^https:\/\/mail\.example\.org\/login\/reset#[\w-]{43}$/);
      expect(await has(user, PASSWORD)).toBe(true);
      expect((await reset(tokenOf(new URL(link)))).status).toBe(200);
      expect(await has(user, ANOTHER)).toBe(true);
    } finally {
      console.deps.transportKind = "relay";
    }
  });

  test("expires", async () => {
    const user = await console.person();
    const { link } = await createResetLink(console.deps, user.email);
    await console.world.hot`
      update sign_in_tokens set expires_at = expires_at - ${OPERATOR_LINK_MINUTES} * interval '1 minute'`;
    expect((await reset(tokenOf(new URL(link)))).status).toBe(410);
  });
});
