import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSession } from "#server/auth";
import { SIGN_IN_TRIES_PER_MINUTE } from "#server/services/sign-in";
import { visitorOf } from "#server/visitor";
import { type Console, openConsole, PASSWORD } from "../support/console";
import { openVisitor, type SignInVisitor } from "../support/sign-in-visitor";

let console: Console;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());

const NAME = "__Host-posthorn.device";
const SESSION = "__Host-posthorn.session";
let addresses = 0;
const open = (address = `198.51.100.${++addresses}`) => openVisitor(console.deps, { address });
const wrong = "not the password";
/** Uses up a bucket as so many wrong passwords do, without the work of judging each. */
const useUp = (bucket: string, limit: number) => {
  while (console.deps.signInTries.take(bucket, limit).allowed);
};
const withMark = (visitor: SignInVisitor, mark: string | undefined) => {
  visitor.jar.set(NAME, mark ?? "");
  return visitor;
};

describe("a browser in which somebody signed in before", () => {
  test("lets its owner in while strangers use up every try, behind the same proxy and everywhere else", async () => {
    const [user, other] = [await console.person(), await console.person()];
    const proxy = "203.0.113.1";
    const [home, foreign] = [open(proxy), open()];
    expect((await home.signIn(user.email, PASSWORD)).isIn).toBe(true);
    await foreign.signIn(other.email, PASSWORD);
    useUp(`address:${proxy}`, SIGN_IN_TRIES_PER_MINUTE.address);
    useUp(`account:${user.email}`, SIGN_IN_TRIES_PER_MINUTE.accountFromStrangers);

    const mark = home.jar.get(NAME);
    expect(await open(proxy).signIn(user.email, PASSWORD)).toMatchObject({ error: "TooManyTries" });
    expect(await open().signIn(user.email, PASSWORD)).toMatchObject({ error: "TooManyTries" });
    for (const place of [proxy, "192.0.2.77"])
      expect((await withMark(open(place), mark).signIn(user.email, PASSWORD)).isIn, place).toBe(true);
    const stolen = withMark(open(proxy), foreign.jar.get(NAME));
    expect(await stolen.signIn(user.email, PASSWORD)).toMatchObject({ isIn: false, error: "TooManyTries" });
  });

  test("guesses no faster than any other", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, PASSWORD);
    const errors: (string | null)[] = [];
    for (let n = 0; n <= SIGN_IN_TRIES_PER_MINUTE.device; n++)
      errors.push((await visitor.signIn(user.email, wrong)).error);
    expect(errors.at(-2)).toBe("CredentialsSignin");
    expect(errors.at(-1)).toBe("TooManyTries");
  });

  test("is marked once they are in, and by nothing less", async () => {
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
    await visitor.submit("signout", {});
    expect(visitor.jar.has(NAME)).toBe(true);
  });

  test("is none by a mark that somebody made up, and no session by its own", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, PASSWORD);
    const session = visitor.jar.get(SESSION) ?? "";
    const mark = visitor.jar.get(NAME) ?? "";
    const cookies = { get: () => ({ value: mark }) };
    expect(await readSession(console.deps, cookies)).toBeNull();
    const address = "203.0.113.2";
    useUp(`address:${address}`, SIGN_IN_TRIES_PER_MINUTE.address);
    for (const made of [session, `${mark}x`, "x", "a.b.c.d.e", "x".repeat(5_000)])
      expect((await withMark(open(address), made).signIn(user.email, PASSWORD)).error).toBe("TooManyTries");
  });
});

describe("a proxy in front that is not to be believed", () => {
  const told = (headers: Record<string, string>, trustedHops = 0) => {
    const before = console.lines.length;
    visitorOf({ ...console.deps, trustedHops }, new Headers({ "x-posthorn-peer": "127.0.0.1", ...headers }));
    return console.lines.slice(before).map(({ event }) => event);
  };

  test("is told in the log once, with the setting by which it is", () => {
    expect(told({})).toEqual([]);
    expect(told({ "x-forwarded-for": "127.0.0.1" })).toEqual([]);
    expect(told({ "x-forwarded-for": "192.0.2.9" }, 1)).toEqual([]);
    expect(told({ "x-forwarded-for": "192.0.2.9" })).toEqual(["visitor.proxy_not_trusted"]);
    expect(console.lines.at(-1)?.facts).toMatchObject({ setting: "POSTHORN_TRUSTED_HOPS" });
    expect(told({ "x-forwarded-for": "192.0.2.10" })).toEqual([]);
  });
});
