import { afterAll, describe, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { LINK_CALLS_PER_MINUTE } from "#server/services/account/sign-in/sign-in-by-email";
import { setPassword, type User } from "#server/services/people/users";
import { LINK_MINUTES, LINKS_MAX } from "#server/services/system-mail/queue";
import { enrol } from "../support/console/authenticator-app";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import { openMailbox, tokenOf } from "../support/console/mailbox";
import { openVisitor } from "../support/console/sign-in-visitor";
import { openStatementLog } from "../support/database/statements";

const console = await openConsole(FOR_CONCURRENT_CALLS);
const mailbox = await openMailbox(console);
afterAll(() => mailbox.close());

let addresses = 0;
/** A browser with a unique IP address: rate limits of one test do not affect another. */
const stranger = () =>
  openVisitor(console.deps, { address: `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}` });

const requestLink = (email: string, landing = "/console", visitor = stranger()) =>
  visitor.postJson("link/request", { kind: "sign_in_link", email, landing });

/** A user, and the link that was emailed to them. */
async function mailed(landing?: string): Promise<{ user: User; link: URL; token: string }> {
  const user = await console.person();
  expect(await requestLink(user.email, landing)).toMatchObject({ status: 202, reply: {} });
  const [link] = await mailbox.linksTo(user.email);
  if (!link) throw new Error("no link came");
  return { user, link, token: tokenOf(link) };
}
const later = (minutes: number) => console.world.hot`
  update sign_in_tokens set expires_at = expires_at - ${minutes} * interval '1 minute'`;

describe("an email link", () => {
  test("signs in the user with the address, once", async () => {
    const { user, token } = await mailed();
    const visitor = stranger();
    expect(await visitor.byLink(token)).toMatchObject({ isIn: true, to: "/console", error: null });
    expect((await getSession(console.deps, visitor.cookies))?.user).toEqual(user);
    const again = stranger();
    expect(await again.byLink(token)).toMatchObject({ isIn: false, error: "CredentialsSignin" });
  });

  test("works once in concurrent requests", async () => {
    const { token } = await mailed();
    const visitors = Array.from({ length: 8 }, stranger);
    const results = await Promise.all(visitors.map((visitor) => visitor.byLink(token)));
    expect(results.filter(({ isIn }) => isIn)).toHaveLength(1);
    expect(results.filter(({ error }) => error === "CredentialsSignin")).toHaveLength(7);
  });

  test("is used only by its button: viewing it does not use it, and a GET does not sign in", async () => {
    const { user, token } = await mailed();
    const program = stranger();
    for (const path of [`callback/link?token=${token}`, `link/read?token=${token}`, `link/request`])
      expect((await program.get(path)).status).toBe(405);
    for (let i = 0; i < 3; i++)
      expect(await program.postJson("link/read", { kind: "sign_in_link", token })).toMatchObject({
        status: 200,
        reply: { email: user.email },
      });
    expect(program.jar.size).toBe(0);
    expect((await stranger().byLink(token)).isIn).toBe(true);
    expect((await program.postJson("link/read", { kind: "sign_in_link", token })).status).toBe(410);
  });

  test("has its token in the fragment, where no server, log or other site sees it", async () => {
    const { link } = await mailed();
    expect(link.hash).toMatch(/^#[\w-]{43}$/);
    expect(`${link.pathname}${link.search}`).toBe("/login/link");
    const wanted = await mailed("/console/emails?team=a");
    expect(wanted.link.searchParams.get("callbackUrl")).toBe("/console/emails?team=a");
  });

  test("is rejected if it has expired, was changed or cut, or is for another purpose", async () => {
    const { user, token } = await mailed();
    const changed = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    for (const bad of [changed, `${token}A`, "\0"])
      expect((await stranger().byLink(bad)).isIn, bad).toBe(false);
    const visitor = stranger();
    await visitor.postJson("link/request", {
      kind: "password_reset",
      email: user.email,
      landing: "/console",
    });
    const reset = (await mailbox.linksTo(user.email)).at(-1);
    expect(reset?.pathname).toBe("/login/reset");
    expect((await stranger().byLink(tokenOf(reset))).isIn).toBe(false);
    expect(
      (await stranger().postJson("password/reset", { token, password: "another long password" })).status,
    ).toBe(410);
    await later(LINK_MINUTES.sign_in_link);
    expect((await stranger().byLink(token)).isIn).toBe(false);
  });

  test("is rejected after a password change", async () => {
    const { user, token } = await mailed();
    await setPassword(console.deps, { userId: user.id, password: PASSWORD });
    expect((await stranger().byLink(token)).isIn).toBe(false);
  });

  test("requires 2FA of a user who has it on", async () => {
    const { user, token } = await mailed();
    const home = stranger();
    await home.signIn(user.email, PASSWORD);
    await enrol(home, PASSWORD, console.deps.clock());
    const visitor = stranger();
    const first = await visitor.byLink(token);
    expect(first).toMatchObject({ isIn: false, error: null });
    expect(first.to).toMatch(/^\/login\/two-factor\?/);
    expect(await getSession(console.deps, visitor.cookies)).toBeNull();
  });

  test("opens the requested page, and never another site", async () => {
    const { token } = await mailed();
    expect((await stranger().byLink(token, "/console/emails?team=a")).to).toBe("/console/emails?team=a");
    for (const wanted of ["//evil.example", "/\t/evil.example"]) {
      const asked = await mailed(wanted);
      expect(asked.link.origin).toBe("https://mail.example.org");
      expect(asked.link.searchParams.get("callbackUrl") ?? "/", wanted).toMatch(/^\/(console)?$/);
      expect((await stranger().byLink(asked.token, wanted)).to, wanted).toMatch(/^\/(console)?$/);
    }
  });
});

describe("requesting a link", () => {
  test("has the same response and cost for known and unknown addresses", async () => {
    const known = await console.person();
    const log = openStatementLog(console.world.databaseUrl);
    const db = console.deps.db;
    console.deps.db = log.db;
    try {
      const responses = [];
      for (const email of [known.email, "nobody-at-all@example.org"]) {
        for (let i = 0; i <= LINKS_MAX.sign_in_link; i++) {
          log.statements.length = 0;
          const { status, reply, headers } = await requestLink(email);
          responses.push({ i, status, reply, headers: [...headers], statements: [...log.statements] });
        }
      }
      const half = responses.length / 2;
      expect(responses.slice(half)).toEqual(responses.slice(0, half));
      expect(responses[0]?.statements).toHaveLength(3);
      expect(responses[0]?.statements.join()).not.toContain('from "users"');
    } finally {
      console.deps.db = db;
      await log.close();
    }
    expect(await mailbox.emailsTo("nobody-at-all@example.org")).toEqual([]);
  });

  test("builds links from the public address, whatever host the request names", async () => {
    const user = await console.person();
    const headers = {
      host: "mail.example.org",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "http",
      forwarded: "host=evil.example",
    };
    const input = { kind: "sign_in_link", email: user.email, landing: "/console" };
    expect((await stranger().postJson("link/request", input, headers)).status).toBe(202);
    expect(
      (await stranger().postJson("link/request", input, { ...headers, host: "evil.example" })).status,
    ).toBe(202);
    const emails = await mailbox.emailsTo(user.email);
    expect(emails).toHaveLength(2);
    for (const mail of emails) expect(mail).not.toContain("evil.example");
  });

  test("by many clients neither floods a mailbox nor leaves its owner without a valid link", async () => {
    const user = await console.person();
    const answers = await Promise.all(Array.from({ length: 8 }, () => requestLink(user.email)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const links = await mailbox.linksTo(user.email);
    expect(links).toHaveLength(LINKS_MAX.sign_in_link);
    for (const link of links.slice(0, 2)) expect((await stranger().byLink(tokenOf(link))).isIn).toBe(true);
    // After these links have expired, new ones can be sent.
    await console.world.hot`update system_mails set created_at = created_at - interval '15 minutes'`;
    await requestLink(user.email);
    // The second sign-in also sent an email about a new device.
    const now = (await mailbox.linksTo(user.email)).filter(({ pathname }) => pathname === "/login/link");
    expect(now).toHaveLength(LINKS_MAX.sign_in_link + 1);
  });

  test("is rate limited per client, for known and unknown addresses", async () => {
    const user = await console.person();
    for (const email of [user.email, "nobody-there@example.org"]) {
      const visitor = stranger();
      const statuses = [];
      for (let i = 0; i <= LINK_CALLS_PER_MINUTE.requested; i++)
        statuses.push((await requestLink(email, "/console", visitor)).status);
      expect(statuses.at(-2)).toBe(202);
      expect(statuses.at(-1)).toBe(429);
    }
    expect((await requestLink(user.email)).status).toBe(202);
  });

  test("is rejected from other sites, and for unknown actions", async () => {
    const user = await console.person();
    const input = { kind: "sign_in_link", email: user.email, landing: "/console" };
    const visitor = stranger();
    for (const origin of ["https://evil.example", "null", "https://mail.example.org.evil.example"])
      expect((await visitor.postJson("link/request", input, { origin })).status, origin).toBe(403);
    for (const bad of [
      { ...input, kind: "first_user" },
      { ...input, extra: 1 },
      { ...input, email: ["a@example.org"] },
      { ...input, email: "not an address" },
      { ...input, email: "a@example.org\0" },
      { ...input, email: "Ann <ann@example.org>" },
      "text",
      null,
    ])
      expect((await visitor.postJson("link/request", bad)).status, JSON.stringify(bad)).toBe(422);
    const long = { ...input, landing: `/${"x".repeat(20_000)}` };
    expect((await visitor.postJson("link/request", long)).status).toBe(413);
  });

  test("reports if system email is not configured", async () => {
    const user = await console.person();
    const { home } = console.deps;
    const sent = await mailbox.linksTo(user.email);
    const refused = async (why: RegExp) =>
      expect(await requestLink(user.email)).toMatchObject({
        status: 404,
        reply: { error: expect.stringMatching(why) },
      });
    try {
      console.deps.transportKind = "none";
      await refused(/^System email is not available\. .*Add a relay or set SMTP_URL\.$/);
      console.deps.transportKind = "capture";
      await refused(/captured/);
      console.deps.transportKind = "relay";
      console.deps.home = { url: "http://localhost:3000", sender: "backstamp@localhost" };
      await refused(/backstamp@localhost\b.*Set BACKSTAMP_SYSTEM_FROM\b/);
    } finally {
      Object.assign(console.deps, { transportKind: "relay", home });
    }
    expect(await mailbox.linksTo(user.email)).toEqual(sent);
  });

  test("logs neither the address nor the link", async () => {
    const { user, token } = await mailed();
    await stranger().byLink(token);
    const said = JSON.stringify(console.lines);
    expect(said).toContain("system_mail.sent");
    expect(said).not.toContain(user.email);
    expect(said).not.toContain(token);
  });
});
