import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../support/servers/free-port";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { pathsOf } from "./app-paths";
import { ADMIN, openSite } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, signIn, takePictures } from "./browser";

/*
 * A new installation with an embedded database, from the first sign-in to a program that sends, without a
 * terminal of the server.
 */

const waitOptions = { timeout: 60_000 };
const run = promisify(execFile);

const smtpPort = await freePort();
const mailServer = await startSmtpTestServer({ ehlo: EHLO_AUTH, auth: () => "235 welcome" });
const { backstamp, browser, profile, page } = await openSite({
  BACKSTAMP_SMTP_PORT: String(smtpPort),
  BACKSTAMP_DATA_DIR: mkdtempSync(path.join(tmpdir(), "backstamp-first-run-")),
});
afterAll(() => mailServer?.close());

const setup = () => page.getByRole("region", { name: "Set up sending" });

test("a stranger is redirected, and a browser without scripts reads what is missing", async () => {
  const pages = pathsOf("page.tsx").filter((path) => /^\/(console(\/|$)|$)/.test(path));
  expect(pages.length).toBeGreaterThan(20);
  for (const path of pages) {
    const response = await fetch(`${backstamp.url}${path}`, { redirect: "manual" });
    expect(response.status, path).toBe(307);
    expect(await response.text(), path).not.toContain("<main");
  }
  const without = await browser.newContext({ javaScriptEnabled: false });
  const login = await without.newPage();
  await login.goto(backstamp.url);
  expect(new URL(login.url()).pathname).toBe("/login");
  expect(await login.locator("body").innerText()).toContain("The console needs JavaScript.");
  await without.close();
});

test("the list of emails offers a test email, which the checklist counts", async () => {
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
  await setup().getByText("1 of 5 done").waitFor(waitOptions);
  await page.goto(`${backstamp.url}/console/emails`);
  const empty = page.getByRole("heading", { name: "No emails yet" });
  await empty.waitFor(waitOptions);
  expect(await page.getByRole("main").textContent()).not.toMatch(/npm|backstamp key/);
  expect(await page.getByRole("button", { name: "Export CSV" }).isDisabled()).toBe(true);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "emails-none");
  await page.getByRole("button", { name: "Send a test email" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To").waitFor(waitOptions);
  expect(await dialog.getByLabel("To").inputValue()).toBe("delivered@backstamp.test");
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "send-test");
  await dialog.getByLabel("From").fill("ann@elsewhere.example");
  await dialog.getByRole("button", { name: "Send test email" }).click();
  await dialog
    .getByText(/elsewhere\.example/)
    .first()
    .waitFor(waitOptions);
  await dialog.getByLabel("From").fill("hello@backstamp.test");
  await dialog.getByRole("button", { name: "Send test email" }).click();
  await dialog.getByRole("link", { name: "View email" }).click();
  await page.getByRole("heading", { name: "Test email from Backstamp" }).waitFor(waitOptions);
  await page.getByText("Delivered", { exact: true }).first().waitFor(waitOptions);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("emails.sendTest"));
  await page.goto(`${backstamp.url}/console`);
  await setup().getByText("2 of 5 done").waitFor(waitOptions);
  expectNoErrors(profile);
});

test("a key is created in place, and the examples with it work as they are shown", async () => {
  await setup()
    .getByRole("button", { name: /^Create/ })
    .click();
  await setup().getByText("It is shown only once, here and in the examples.").waitFor(waitOptions);
  const secret = await setup().getByRole("figure", { name: "API key" }).locator("code").textContent();
  expect(secret).toMatch(/^re_/);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "first-key");
  // The key is shown only once, so the page asks before it is left.
  await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Domains" }).click();
  const leave = page.getByRole("alertdialog", { name: "Leave without storing the key?" });
  await leave.getByRole("button", { name: "Stay" }).click(waitOptions);
  await leave.waitFor({ state: "detached", ...waitOptions });
  expect(new URL(page.url()).pathname).toBe("/console");
  expect(await setup().getByRole("figure", { name: "API key" }).locator("code").textContent()).toBe(secret);
  const exampleOf = async (name: string): Promise<string> => {
    await setup().getByRole("tab", { name, exact: true }).click();
    return (await setup().getByRole("tabpanel").locator("pre").textContent()) ?? "";
  };
  const curl = await run("sh", ["-c", await exampleOf("curl")]);
  expect(JSON.parse(curl.stdout)).toEqual({ id: expect.any(String) });
  const smtp = await exampleOf("SMTP");
  expect(smtp).toContain(`smtp://localhost:${smtpPort}`);
  await run("sh", ["-c", smtp]);
  const php = await run("php", ["-r", (await exampleOf("PHP")).replace(/^<\?php/, "")]);
  expect(JSON.parse(php.stdout)).toEqual({ id: expect.any(String) });
  for (const name of ["Node", "Python"]) expect(await exampleOf(name)).toContain(secret);
  const { data } = await backstamp.api("GET", "/emails");
  expect(data).toHaveLength(4);
  await setup().getByRole("button", { name: "I have stored it" }).click();
  await expect.poll(() => page.content(), waitOptions).not.toContain(secret);
  expectNoErrors(profile);
});

test("a rejected first email is on the checklist and in the list of requests, with what would work", async () => {
  const body = { from: "ann@mine.example", to: "ben@example.net", subject: "x", html: "x" };
  await expect(backstamp.api("POST", "/emails", body)).rejects.toThrow(
    '403 {"error":"Insufficient API key permissions"}',
  );
  const sentence = /mine\.example.*verify/;
  await setup().getByText(sentence).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "first-rejection");
  await setup().getByRole("link", { name: "API requests" }).click();
  await page.getByRole("row").filter({ hasText: "/emails" }).getByText(sentence).first().waitFor(waitOptions);
  await takePictures(page, "rejected-requests");
  await page.goBack();
  await setup().waitFor(waitOptions);
});

test("the operator adds and tests a relay from the checklist, which then counts it without a reload", async () => {
  const outgoing = setup().getByRole("listitem").filter({ hasText: "Outgoing email" });
  await outgoing.getByText("Add a relay").waitFor(waitOptions);
  await setup().getByText("2 of 5 done").waitFor(waitOptions);
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await setup().getByRole("link", { name: "Add a relay" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("main", waitOptions);
  await dialog.getByLabel("Host").fill("127.0.0.1");
  await dialog.getByLabel("Port").fill(String(mailServer.port));
  await dialog.getByLabel("Encryption").selectOption("opportunistic");
  await dialog.getByLabel("User").fill("user");
  await dialog.getByLabel("Password").fill("password");
  await dialog.getByRole("button", { name: "Add relay" }).click();
  const row = page.getByRole("row").filter({ hasText: "main" });
  await row.getByText("Healthy").waitFor(waitOptions);
  await row.getByRole("button", { name: "Actions for main" }).click();
  await page.getByRole("menuitem", { name: "Test login" }).click();
  await dialog.getByText("The relay accepts the connection and the login.").waitFor(waitOptions);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await outgoing.getByText("Configured.").waitFor(waitOptions);
  await setup().getByText("3 of 5 done").waitFor(waitOptions);
  expect(await page.evaluate(() => "isSameDocument" in window)).toBe(true);
  expectNoErrors(profile);
});
