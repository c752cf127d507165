import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#server/boot/embedded";
import { silentLog } from "#server/log";
import { type MailSink, startMailSink } from "../support/smtp-peer";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { type Posthorn, startPosthorn } from "./posthorn";

/* Nobody is a user here, the database is a configured one, and mail goes out to a server of this test. */

const FIRST = { email: "ann@example.net", password: "correct horse battery" };
const eventually = { timeout: 60_000, interval: 100 };

let folder: string;
let postgres: EmbeddedPostgres;
let sink: MailSink;
let posthorn: Posthorn;
let browser: Browser;
let here: Watched;
let page: Page;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "posthorn-sign-in-"));
  sink = await startMailSink();
  [browser, postgres] = await Promise.all([
    openBrowser(),
    startEmbeddedPostgres({ dataDir: folder, log: silentLog, quick: true }),
  ]);
  posthorn = await startPosthorn({
    DATABASE_URL: postgres.url,
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    POSTHORN_SYSTEM_FROM: "Posthorn <posthorn@example.org>",
    POSTHORN_ADMIN_PASSWORD: "",
  });
  here = await openProfile(browser);
  page = await here.context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
  await postgres?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The link in the newest mail of so many. */
async function nthLink(mails: number): Promise<string> {
  await expect.poll(() => sink.messages.length, eventually).toBe(mails);
  const text = sink.messages.at(-1)?.bytes.toString() ?? "";
  const found = /^http:\/\/localhost\S+$/m.exec(text.replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[0];
  if (!found) throw new Error(`no link in ${text}`);
  return found;
}

const isInConsole = (at: Page) => at.waitForURL(/\/console/, { timeout: 60_000 });

test("who reads what the start printed becomes the first user, and nobody else", async () => {
  const printed = /http:\/\/localhost:\d+\/setup#[0-9A-Z-]{39}/.exec(posthorn.output())?.[0] ?? "";
  expect(printed).not.toBe("");
  await page.goto(`${posthorn.url}/console`);
  await page.waitForURL(/\/setup$/);
  await page.getByLabel("Code").fill("0000-0000");
  await page.getByLabel("Email address").fill(FIRST.email);
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Make the first user" }).click();
  await page.getByText("That code opens nothing").waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "setup");

  await page.goto("about:blank");
  await page.goto(printed);
  await expect.poll(() => page.getByLabel("Code").inputValue(), eventually).toBe(printed.split("#")[1]);
  // What opens it stays in no history.
  expect(page.url()).toBe(`${posthorn.url}/setup`);
  await page.getByLabel("Email address").fill(FIRST.email);
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Make the first user" }).click();
  await isInConsole(page);
  await page.goto(printed);
  await page.waitForURL(/\/(login|console)/);
});

test("a mailed link signs in by the press of a button, once, and an unknown address is answered alike", async () => {
  const other = await openProfile(browser);
  const visitor = await other.context.newPage();
  await visitor.goto(`${posthorn.url}/login?callbackUrl=%2Fconsole%2Femails`);
  await visitor.getByRole("button", { name: "Mail me a link" }).waitFor();
  await expectNoBarriers(visitor);
  await takePictures(visitor, "login");
  for (const email of ["nobody@example.net", FIRST.email]) {
    await visitor.getByLabel("Email address").fill(email);
    await visitor.getByRole("button", { name: "Mail me a link" }).click();
    await visitor.getByText(`If ${email} has an account here, a link is on its way.`).waitFor();
    if (email === FIRST.email) break;
    await takePictures(visitor, "login-link-sent");
    await visitor.getByRole("button", { name: "Back" }).click();
  }
  const link = await nthLink(1);
  expect(sink.messages[0]?.to).toEqual([FIRST.email]);
  await visitor.goto(link);
  await visitor.getByText(`You are about to sign in as ${FIRST.email}.`).waitFor();
  expect(visitor.url()).not.toContain("#");
  await expectNoBarriers(visitor);
  await takePictures(visitor, "login-link");
  await visitor.getByRole("button", { name: "Sign in", exact: true }).click();
  await visitor.waitForURL(/\/console\/emails/);

  const late = await openProfile(browser);
  const again = await late.context.newPage();
  await again.goto(link);
  await again.getByText("This link opens nothing any more").waitFor();
  await takePictures(again, "login-link-over");
  for (const { dialogs, foreign } of [here, other, late]) expect([...dialogs, ...foreign]).toEqual([]);
  await late.context.close();
  await other.context.close();
});

test("a lost password is replaced by a mailed link, which ends every session there was", async () => {
  const other = await openProfile(browser);
  const visitor = await other.context.newPage();
  await visitor.goto(`${posthorn.url}/login`);
  await visitor.getByRole("link", { name: "Forgot it?" }).click();
  await visitor.waitForURL(/\/login\/forgot/);
  await visitor.getByLabel("Email address").fill(FIRST.email);
  await expectNoBarriers(visitor);
  await takePictures(visitor, "login-forgot");
  await visitor.getByRole("button", { name: "Mail me a link" }).click();
  await visitor.getByText("a link is on its way").waitFor();
  const link = await nthLink(2);
  await visitor.goto(link);
  await visitor.getByLabel("Password").fill("another password entirely");
  await expectNoBarriers(visitor);
  await takePictures(visitor, "login-reset");
  await visitor.getByRole("button", { name: "Change the password" }).click();
  await isInConsole(visitor);

  await page.goto(`${posthorn.url}/console/emails`);
  await page.waitForURL(/\/login/);
  await signIn(page, posthorn.url, FIRST.email, "another password entirely");
  for (const { dialogs, foreign, errors } of [here, other]) {
    expect([...dialogs, ...foreign]).toEqual([]);
    // A call that is refused, as after the session was ended, is an error to the browser alone.
    expect(errors.filter(({ text }) => !/status of 4\d\d/.test(text))).toEqual([]);
  }
  await other.context.close();
});
