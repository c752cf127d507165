import { afterAll, afterEach, expect, test } from "vitest";
import { startHttpSink } from "../support/servers/http-sink";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoErrors, openProfile, signIn, takePictures } from "./browser";
import { expectWholeAddresses } from "./whole-addresses";

const slowPage = { timeout: 60_000 };

const sinks = await Promise.all([startHttpSink(() => 204), startHttpSink(() => 204)]);
afterAll(() => Promise.all(sinks.map((sink) => sink.close())));
const { backstamp, browser, profile, page } = await openSignedIn({
  SMTP_URL: "capture:",
  BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
});
afterEach(() => expectNoErrors(profile));
const token = await backstamp.createKey("--domains", "all");
await backstamp.operate("team", "set", "First team", "--unknown", "hold");

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
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Send again as new…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("status").getByText("delivered+two@backstamp.test").waitFor(slowPage);
  await dialog.getByRole("status").getByText("1 of 2 recipients is suppressed").waitFor();
  await dialog.getByRole("button", { name: "Send new email to 1 recipient" }).waitFor();
  await takePictures(page, "dialog-send-again");
  await dialog.getByLabel("To").fill("delivered+three@backstamp.test");
  await dialog.getByRole("status").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Send new email to 1 recipient" }).dblclick();
  await dialog.getByRole("link", { name: "View the new email" }).click();
  await page.getByRole("link", { name: "Earlier email" }).waitFor(slowPage);
  expect(await page.getByRole("region", { name: "Recipient" }).textContent()).toContain("delivered+three@");
  await page.getByRole("link", { name: "Earlier email" }).click();
  await page.getByRole("link", { name: "New email" }).waitFor(slowPage);
  const partial = await backstamp.send({
    to: ["delivered@backstamp.test", "delivered+two@backstamp.test"],
    subject: "Partial",
    html: "<p>Hi</p>",
  });
  await page.goto(`${backstamp.url}/console/emails/${partial}`);
  await page.getByText("1 of 2 recipients", { exact: true }).waitFor(slowPage);
  await takePictures(page, "email-partial");
  await page.goto(`${backstamp.url}/console/emails?search=Partial`);
  await page.getByRole("listitem").getByText("+1, 1 suppressed").waitFor(slowPage);
  await page.goto(`${backstamp.url}/console/emails?search=Again`);
  await expect
    .poll(() => page.getByRole("list", { name: "Emails" }).getByRole("listitem").count(), slowPage)
    .toBe(2);
});

test("a scheduled email shows its time, and is rescheduled in the time zone of the browser, which the field names", async () => {
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
  const due = there.locator(`main time[datetime="${scheduled.toISOString()}"]`);
  await due.first().waitFor(slowPage);
  const times = await due.allTextContents();
  expect(times.filter((time) => time.includes(inNewYork(scheduled).slice(-5))).length).toBeGreaterThan(0);
  expect(times.filter((time) => /^in \d/.test(time)).length).toBeLessThan(2);
  await there.getByRole("button", { name: "Reschedule…" }).click(slowPage);
  const dialog = there.getByRole("dialog");
  await dialog.getByText(`In your time zone, ${timeZone}.`).waitFor(slowPage);
  await expect.poll(() => dialog.getByLabel("Send at").inputValue(), slowPage).toBe(inNewYork(scheduled));
  await dialog.getByLabel("Send at").fill(inNewYork(next));
  await dialog.getByRole("button", { name: "Reschedule" }).click();
  await dialog.waitFor({ state: "detached", ...slowPage });
  const stored = await backstamp.api("GET", `/emails/${id}`, undefined, token);
  expect(new Date(stored.scheduled_at)).toEqual(next);
  expectNoErrors(abroad);
  await abroad.context.close();
});

test("the page of a bounced email begins with the reason, and groups webhooks by event", async () => {
  const urls = sinks.map(({ port }) => `http://127.0.0.1:${port}/hooks`);
  const events = ["email.queued", "email.bounced"];
  for (const endpoint of urls) await backstamp.api("POST", "/webhooks", { endpoint, events }, token);
  const id = await backstamp.send(
    {
      from: "Notices of the shop <shop.notices@backstamp.test>",
      to: "bounced+a.long.address.of.a.reader@backstamp.test",
      subject: "For bounced+a.long.address.of.a.reader@backstamp.test",
      html: "<p>Hi</p>",
    },
    token,
  );
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  const recipient = page.getByRole("region", { name: "Recipient" });
  await recipient.getByText("Bounced", { exact: true }).waitFor(slowPage);
  const preview = page.getByRole("tablist", { name: "Message" });
  await preview.waitFor(slowPage);
  const size = page.viewportSize();
  for (const width of [380, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const [shown, message] = [await recipient.boundingBox(), await preview.boundingBox()];
    if (!shown || !message) throw new Error("The recipient or the message is not displayed.");
    expect(await recipient.textContent()).toMatch(/the mailbox does not exist/i);
    expect(shown.y + shown.height, `${width} px`).toBeLessThanOrEqual(message.y);
  }
  await page.setViewportSize({ width: 380, height: 900 });
  const tops = await page
    .getByRole("main")
    .getByRole("region")
    .evaluateAll((regions) => regions.map((region) => region.getBoundingClientRect().top));
  expect((await recipient.boundingBox())?.y).toBe(Math.min(...tops));
  if (size) await page.setViewportSize(size);
  const webhooks = page.getByRole("region", { name: "Webhooks" });
  await expect.poll(() => webhooks.getByText("Responded 204").count(), slowPage).toBe(4);
  expect(await webhooks.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
    expect.stringMatching(/^email\.queued/),
    expect.stringMatching(/^email\.bounced/),
  ]);
  const groups = webhooks.getByRole("listitem").filter({ has: page.getByRole("heading", { level: 3 }) });
  for (const group of await groups.all())
    expect((await group.getByRole("link").allTextContents()).sort()).toEqual(urls.sort());
  await expectWholeAddresses(page);
});

test("after a retry, the recipient has as many attempts as the timeline, and all times can be exact", async () => {
  const id = await backstamp.send(
    { to: "bounced+twice@backstamp.test", subject: "Twice", html: "<p>Hi</p>" },
    token,
  );
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  const recipient = page.getByRole("region", { name: "Recipient" });
  await recipient.getByText(/^1 attempt/).waitFor(slowPage);
  await page.getByRole("button", { name: "Retry…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Retry" }).click();
  await page.getByRole("region", { name: "Timeline" }).getByText("attempt 2").waitFor(slowPage);
  await recipient.getByText(/^2 attempts/).waitFor(slowPage);
  await page.getByRole("button", { name: "Exact times" }).click();
  await page.getByRole("button", { name: "Relative times" }).waitFor();
  for (const time of await page.getByRole("main").locator("time").allTextContents())
    expect(time).toMatch(/^\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d\.\d{3} [A-Z]/);
  await expectWholeAddresses(page);
  await page.getByRole("button", { name: "Relative times" }).click();
  await page.getByRole("button", { name: "Exact times" }).waitFor();
});

test("unknown outcomes are included in a bulk retry only with the checkbox, whichever statuses are filtered", async () => {
  const id = await backstamp.send(
    { to: "unknown@backstamp.test", subject: "No reply", html: "<p>Hi</p>" },
    token,
  );
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  await page
    .getByRole("region", { name: "Recipient" })
    .getByText("Unknown", { exact: true })
    .waitFor(slowPage);
  const dialog = page.getByRole("dialog", { name: "Retry emails" });
  const box = dialog.getByLabel("Include emails with unknown outcome");
  const open = async (status: string) => {
    await page.goto(`${backstamp.url}/console/emails?status=${status}`);
    await page.getByRole("button", { name: "Retry emails…" }).click();
    await box.waitFor(slowPage);
    expect(await box.isChecked()).toBe(false);
    await dialog.getByText("In that case the recipient gets a duplicate.", { exact: false }).waitFor();
  };
  await open("unknown");
  await dialog
    .getByText("Matching emails with unknown outcome: 1 email. It is retried only", { exact: false })
    .waitFor();
  const disabled = dialog.getByRole("button", { name: "Retry emails" });
  expect(await disabled.isDisabled()).toBe(true);
  expect(await disabled.getAttribute("title")).toBe("Include emails with unknown outcome first.");
  await takePictures(page, "emails-retry-unknown");
  await box.check();
  await dialog.getByRole("button", { name: "Retry 1 email" }).waitFor(slowPage);
  await open("unknown,failed");
  await dialog.getByText("Nothing to retry. No email that matches the filters is failed.").waitFor(slowPage);
  await box.check();
  await dialog.getByRole("button", { name: "Retry 1 email" }).click(slowPage);
  await dialog.getByText("1 email queued for retry, 1 recipient.").waitFor(slowPage);
});
