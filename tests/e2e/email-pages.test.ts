import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
let token: string;
const patience = { timeout: 60_000 };

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  const made = await backstamp.operate(
    ...["key", "create", "--name", "Shop", "--scopes", "full_access", "--domains", "all", "--json"],
  );
  token = JSON.parse(made).token;
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

test("filters are saved under a name, opened with one click, renamed and deleted", async () => {
  await page.goto(`${backstamp.url}/console/emails?status=failed,bounced`);
  await page.getByTitle("Time", { exact: true }).selectOption({ label: "Today" });
  await page.waitForURL(/since=/);
  await page.getByRole("button", { name: "Save filter…" }).click();
  await page.getByLabel("Name").fill("Failed today");
  await takePictures(page, "dialog-save-filter");
  await page.getByRole("dialog").getByRole("button", { name: "Save filter" }).click();
  const links = page.getByRole("navigation", { name: "Saved filters" }).getByRole("link");
  await expect.poll(() => links.allTextContents(), patience).toEqual(["Failed today"]);
  expect(await links.first().getAttribute("aria-current")).toBe("true");
  await page.goto(`${backstamp.url}/console/emails`);
  await links.first().click();
  await page.waitForURL(/status=.*since=/);
  expect(await page.getByTitle("Time", { exact: true }).inputValue()).toBe("today");
  await page.goBack();
  await page.waitForURL(/emails$/);
  await page.getByRole("button", { name: "Manage saved filters" }).click();
  await page.getByLabel("Name of Failed today").waitFor(patience);
  await takePictures(page, "dialog-saved-filters");
  await page.getByLabel("Name of Failed today").fill("Failures");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("button", { name: "Delete Failures" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await links.count()).toBe(0);
  expectNoErrors(profile);
});

test("an email is sent again as a new one, to changed recipients, and both pages refer to the other", async () => {
  const first = await backstamp.send(
    {
      from: "shop@backstamp.test",
      to: ["delivered@backstamp.test", "delivered+two@backstamp.test"],
      subject: "Again",
      html: "<p>Hi</p>",
    },
    token,
  );
  await page.goto(`${backstamp.url}/console/suppressions`);
  await page.getByRole("button", { name: "Suppress addresses" }).click();
  await page.getByRole("dialog").getByRole("textbox").first().fill("delivered+two@backstamp.test");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Suppress/ })
    .click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goto(`${backstamp.url}/console/emails/${first}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Send again as new…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("status").getByText("delivered+two@backstamp.test").waitFor(patience);
  await takePictures(page, "dialog-send-again");
  await dialog.getByLabel("To").fill("delivered+three@backstamp.test");
  await dialog.getByRole("status").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Send new email to 1 recipient" }).dblclick();
  await dialog.getByRole("link", { name: "View the new email" }).click();
  await page.getByRole("link", { name: "Earlier email" }).waitFor(patience);
  expect(await page.getByRole("region", { name: "Recipient" }).textContent()).toContain("delivered+three@");
  await page.getByRole("link", { name: "Earlier email" }).click();
  await page.getByRole("link", { name: "New email" }).waitFor(patience);
  await page.goto(`${backstamp.url}/console/emails?q=Again`);
  await expect
    .poll(() => page.getByRole("list", { name: "Emails" }).getByRole("listitem").count(), patience)
    .toBe(2);
  expectNoErrors(profile);
});

test("an email is rescheduled in the time zone of the browser, which the field names", async () => {
  const timeZone = "America/New_York";
  const inNewYork = (at: Date) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })
      .format(at)
      .replace(" ", "T");
  const dayMs = 86_400_000;
  // 13:15 or 14:15 there, never in the hour in which the clock changes.
  const scheduled = new Date(Math.floor(Date.now() / dayMs + 2) * dayMs + (18 * 60 + 15) * 60_000);
  const next = new Date(scheduled.getTime() + dayMs + 45 * 60_000);
  const email = { from: "shop@backstamp.test", to: "delivered@backstamp.test", subject: "Zone", html: "x" };
  const id = await backstamp.send({ ...email, scheduled_at: scheduled.toISOString() }, token);
  const abroad = await openProfile(browser, { timezoneId: timeZone });
  const there = await abroad.context.newPage();
  await signIn(there, backstamp.url, ADMIN.email, ADMIN.password);
  await there.goto(`${backstamp.url}/console/emails/${id}`);
  await there.getByRole("button", { name: "Reschedule…" }).click(patience);
  const dialog = there.getByRole("dialog");
  await dialog.getByText(`In your time zone, ${timeZone}.`).waitFor(patience);
  expect(await dialog.getByLabel("Send at").inputValue()).toBe(inNewYork(scheduled));
  await dialog.getByLabel("Send at").fill(inNewYork(next));
  await dialog.getByRole("button", { name: "Reschedule" }).click();
  await dialog.waitFor({ state: "detached", ...patience });
  const stored = await backstamp.api("GET", `/emails/${id}`, undefined, token);
  expect(new Date(stored.scheduled_at)).toEqual(next);
  expectNoErrors(abroad);
  await abroad.context.close();
});
