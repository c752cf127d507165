import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSession } from "#server/auth";
import { HANDED_LINK_MINUTES, makeResetLink } from "#server/services/sign-in-by-mail";
import { LINK_MINUTES, LINKS_MAX } from "#server/services/system-mail/queue";
import { type User, verifyPassword } from "#server/services/users";
import { enrol } from "../support/authenticator-app";
import { type Console, openConsole, PASSWORD } from "../support/console";
import { type Mailbox, openMailbox, tokenOf } from "../support/mailbox";
import { openVisitor } from "../support/sign-in-visitor";
import { openStatementLog } from "../support/statements";

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

let addresses = 0;
const stranger = () => openVisitor(console.deps, { address: `203.0.113.${++addresses}` });
const ask = (email: string) =>
  stranger().tell("link/ask", { kind: "password_reset", email, landing: "/console" });
const reset = (token: string, password = ANOTHER, visitor = stranger()) =>
  visitor.tell("password/reset", { token, password });
const has = async (user: User, password: string) =>
  (await verifyPassword(console.deps, { email: user.email, password })) !== null;

async function mailed(): Promise<{ user: User; token: string }> {
  const user = await console.person();
  expect(await ask(user.email)).toMatchObject({ status: 202, told: {} });
  const [link] = await mailbox.linksTo(user.email);
  expect(link?.pathname).toBe("/login/reset");
  return { user, token: tokenOf(link) };
}

describe("a link for another password", () => {
  test("changes it once, ends every session, and opens none", async () => {
    const { user, token } = await mailed();
    const elsewhere = stranger();
    await elsewhere.signIn(user.email, PASSWORD);
    expect(await readSession(console.deps, elsewhere.cookies)).not.toBeNull();
    const visitor = stranger();
    expect(await reset(token, ANOTHER, visitor)).toMatchObject({ status: 200, told: { email: user.email } });
    expect(visitor.jar.size).toBe(0);
    expect(await readSession(console.deps, elsewhere.cookies)).toBeNull();
    expect([await has(user, ANOTHER), await has(user, PASSWORD)]).toEqual([true, false]);
    expect((await reset(token, PASSWORD)).status).toBe(410);
    expect(await has(user, ANOTHER)).toBe(true);
  });

  test("lets one choose of several who bring it at once", async () => {
    const { user, token } = await mailed();
    const passwords = Array.from({ length: 6 }, (_, index) => `the password of number ${index}`);
    const answers = await Promise.all(passwords.map((password) => reset(token, password)));
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(await has(user, passwords[winners[0] ?? 0] ?? "")).toBe(true);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(5);
  });

  test("is not used up by a password that will not do, which is told why", async () => {
    const { user, token } = await mailed();
    for (const password of ["short", "x".repeat(257)])
      expect(await reset(token, password)).toMatchObject({
        status: 422,
        told: { error: expect.stringMatching(/12 to 256/) },
      });
    expect(await has(user, PASSWORD)).toBe(true);
    expect((await reset(token)).status).toBe(200);
  });

  test("opens nothing when it is too old, changed, or for something else", async () => {
    const { user, token } = await mailed();
    await stranger().tell("link/ask", { kind: "sign_in_link", email: user.email, landing: "/console" });
    const signIn = (await mailbox.linksTo(user.email)).at(-1);
    expect(signIn?.pathname).toBe("/login/link");
    for (const bad of [tokenOf(signIn), token.toUpperCase(), `${token}A`, "", "\0"])
      expect((await reset(bad)).status, bad).toBe(410);
    await console.house.hot`
      update sign_in_tokens set expires_at = expires_at - ${LINK_MINUTES.password_reset} * interval '1 minute'`;
    expect((await reset(token)).status).toBe(410);
    expect(await has(user, PASSWORD)).toBe(true);
  });

  test("makes every other link of theirs worthless", async () => {
    const { user, token } = await mailed();
    await ask(user.email);
    const second = tokenOf((await mailbox.linksTo(user.email)).at(-1));
    expect(second).not.toBe(token);
    expect((await reset(token)).status).toBe(200);
    expect((await reset(second, PASSWORD)).status).toBe(410);
  });

  test("takes nobody past their second factor", async () => {
    const { user, token } = await mailed();
    const home = stranger();
    await home.signIn(user.email, PASSWORD);
    await enrol(home, PASSWORD, console.deps.clock());
    expect((await reset(token)).status).toBe(200);
    const visitor = stranger();
    expect(await visitor.signIn(user.email, ANOTHER)).toMatchObject({
      isIn: false,
      to: expect.stringMatching(/^\/login\/second/),
    });
  });

  test("is asked for at the same cost whether anybody has the address", async () => {
    const known = await console.person();
    const log = openStatementLog(console.house.url);
    const db = console.deps.db;
    console.deps.db = log.db;
    try {
      const heard = [];
      for (const email of [known.email, "nobody-at-all@example.org"]) {
        for (let i = 0; i <= LINKS_MAX.password_reset; i++) {
          log.statements.length = 0;
          const { status, told, headers } = await ask(email);
          heard.push({ i, status, told, headers: [...headers], statements: [...log.statements] });
        }
      }
      expect(heard.slice(heard.length / 2)).toEqual(heard.slice(0, heard.length / 2));
    } finally {
      console.deps.db = db;
      await log.close();
    }
    expect(await mailbox.mailsTo("nobody-at-all@example.org")).toEqual([]);
    expect(await mailbox.mailsTo(known.email)).toHaveLength(LINKS_MAX.password_reset);
  });
});

describe("a link that the operator hands over", () => {
  test("works where no mail is sent, and changes nothing before it is used", async () => {
    const user = await console.person();
    console.deps.transportKind = "none";
    try {
      const { link } = await makeResetLink(console.deps, user.email.toUpperCase());
      expect(link).toMatch(/^https:\/\/mail\.example\.org\/login\/reset#[\w-]{43}$/);
      expect(await has(user, PASSWORD)).toBe(true);
      expect((await reset(tokenOf(new URL(link)))).status).toBe(200);
      expect(await has(user, ANOTHER)).toBe(true);
    } finally {
      console.deps.transportKind = "relay";
    }
  });

  test("does not open for ever", async () => {
    const user = await console.person();
    const { link } = await makeResetLink(console.deps, user.email);
    await console.house.hot`
      update sign_in_tokens set expires_at = expires_at - ${HANDED_LINK_MINUTES} * interval '1 minute'`;
    expect((await reset(tokenOf(new URL(link)))).status).toBe(410);
  });

  test("is made for nobody whom there is not", async () => {
    await expect(makeResetLink(console.deps, "nobody@example.org")).rejects.toThrow(/no user nobody@/);
  });
});
