import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openSite } from "./backstamp";
import { expectNoAccessibilityViolations, openProfile, signIn, takePictures } from "./browser";

/* The installation has no user, and a test server for outgoing email. */

const FIRST = { email: "ann@example.net", password: "correct horse battery" };
const pollOptions = { timeout: 60_000, interval: 100 };

const sink = await startSmtpTestServer();
const {
  backstamp,
  browser,
  profile: here,
  page,
} = await openSite({
  SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
  BACKSTAMP_SYSTEM_FROM: "Backstamp <backstamp@example.org>",
  BACKSTAMP_ADMIN: "",
});
afterAll(() => sink?.close());

/** The local links of all emails with this path, oldest first. */
const linksTo = (path: string): string[] =>
  sink.messages.flatMap(({ bytes }) => {
    const text = bytes.toString().replaceAll("=\r\n", "").replaceAll("=3D", "=");
    const found = /^http:\/\/localhost\S+$/m.exec(text)?.[0];
    return found !== undefined && new URL(found).pathname === path ? [found] : [];
  });

/** Waits for the only email with a link to this path. */
async function onlyLink(path: string): Promise<string> {
  await expect.poll(() => linksTo(path).length, pollOptions).toBe(1);
  return linksTo(path)[0] ?? "";
}

const isInConsole = (at: Page) => at.waitForURL(/\/console/, { timeout: 60_000 });

test("only the setup link that is printed at startup creates the first user", async () => {
  const printed = /http:\/\/localhost:\d+\/setup#[0-9A-Z-]{39}/.exec(backstamp.output())?.[0] ?? "";
  expect(printed).not.toBe("");
  await page.goto(`${backstamp.url}/console`);
  await page.waitForURL(/\/setup$/);
  await page.getByLabel("Code").fill("0000-0000");
  await page.getByLabel("Email address").fill(FIRST.email);
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Create first user" }).click();
  await page.getByText("Invalid code.").waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "setup");

  await page.goto("about:blank");
  await page.goto(printed);
  await expect.poll(() => page.getByLabel("Code").inputValue(), pollOptions).toBe(printed.split("#")[1]);
  // The code is not kept in the browser history.
  expect(page.url()).toBe(`${backstamp.url}/setup`);
  await page.getByLabel("Email address").fill(FIRST.email);
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Create first user" }).click();
  await isInConsole(page);
  await page.goto(printed);
  await page.waitForURL(/\/(login|console)/);
});

test("an emailed link signs in once with a button, and the response for an unknown address is the same", async () => {
  const other = await openProfile(browser);
  const visitor = await other.context.newPage();
  await visitor.goto(`${backstamp.url}/login?callbackUrl=%2Fconsole%2Femails`);
  await visitor.getByRole("button", { name: "Email me a link" }).waitFor();
  await expectNoAccessibilityViolations(visitor);
  await takePictures(visitor, "login");
  for (const email of ["nobody@example.net", FIRST.email]) {
    await visitor.getByLabel("Email address").fill(email);
    await visitor.getByRole("button", { name: "Email me a link" }).click();
    await visitor.getByText(`If ${email} has an account here, you will receive a link.`).waitFor();
    if (email === FIRST.email) break;
    await takePictures(visitor, "login-link-sent");
    await visitor.getByRole("button", { name: "Back" }).click();
  }
  const link = await onlyLink("/login/link");
  expect(sink.messages[0]?.to).toEqual([FIRST.email]);
  await visitor.goto(link);
  await visitor.getByText(`You are about to sign in as ${FIRST.email}.`).waitFor();
  expect(visitor.url()).not.toContain("#");
  await expectNoAccessibilityViolations(visitor);
  await takePictures(visitor, "login-link");
  await visitor.getByRole("button", { name: "Sign in", exact: true }).click();
  await visitor.waitForURL(/\/console\/emails/);
  // It was not the browser in which the first user was created.
  await onlyLink("/console/settings/security");

  const late = await openProfile(browser);
  const again = await late.context.newPage();
  await again.goto(link);
  await again.getByText("This link is not valid").waitFor();
  await takePictures(again, "login-link-over");
  for (const { dialogs, foreign } of [here, other, late]) expect([...dialogs, ...foreign]).toEqual([]);
  await late.context.close();
  await other.context.close();
});

test("an emailed link resets the password and ends all sessions", async () => {
  const other = await openProfile(browser);
  const visitor = await other.context.newPage();
  await visitor.goto(`${backstamp.url}/login`);
  await visitor.getByRole("link", { name: "Forgot password?" }).click();
  await visitor.waitForURL(/\/login\/forgot/);
  await visitor.getByLabel("Email address").fill(FIRST.email);
  await expectNoAccessibilityViolations(visitor);
  await takePictures(visitor, "login-forgot");
  await visitor.getByRole("button", { name: "Email me a link" }).click();
  await visitor.getByText("you will receive a link").waitFor();
  const link = await onlyLink("/login/reset");
  await visitor.goto(link);
  await visitor.getByLabel("Password").fill("another password entirely");
  await expectNoAccessibilityViolations(visitor);
  await takePictures(visitor, "login-reset");
  await visitor.getByRole("button", { name: "Change password" }).click();
  await isInConsole(visitor);

  await page.goto(`${backstamp.url}/console/emails`);
  await page.waitForURL(/\/login/);
  await signIn(page, backstamp.url, FIRST.email, "another password entirely");
  for (const { dialogs, foreign, errors } of [here, other]) {
    expect([...dialogs, ...foreign]).toEqual([]);
    // The browser logs rejected requests, such as those after the end of the session, as errors.
    expect(errors.filter(({ text }) => !/status of 4\d\d/.test(text))).toEqual([]);
  }
  await other.context.close();
});
