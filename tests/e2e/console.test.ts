import { afterEach, describe, expect, test } from "vitest";
import { ADMIN, openSite } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const { backstamp, profile, page } = await openSite({ SMTP_URL: "capture:" });
afterEach(() => expectNoErrors(profile));

const rows = () => page.getByRole("list", { name: "Emails" }).getByRole("link");
const slowPage = { timeout: 60_000 };

describe("signing in", () => {
  test("is required for every page, and returns to the requested one", async () => {
    await page.goto(`${backstamp.url}/console/emails?status=bounced`);
    await page.waitForURL(/\/login\?callbackUrl=/);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "login");
    await page.getByLabel("Email address").fill(ADMIN.email);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Incorrect email or password.").waitFor();
    await page.getByLabel("Password").fill(ADMIN.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(`${backstamp.url}/console/emails?status=bounced`);
    // The browser logs the 401 of the rejected sign-in as an error.
    const rejected = profile.errors.splice(0);
    expect(rejected.every(({ at }) => at.includes("/api/auth/callback/credentials"))).toBe(true);
  });
});

describe("the list", () => {
  const EMAILS = [
    ["delivered+nora@backstamp.test", "Your receipt from Alder & Oak, order 10492"],
    ["bounced+old-address@backstamp.test", "Please confirm your address"],
    ["delivered+jan@backstamp.test", "Weekly digest: 14 new replies in three threads you follow"],
    ["complained+list@backstamp.test", "Spring sale: everything for the balcony"],
    ["suppressed+gone@backstamp.test", "We miss you"],
    ["delivered+amira@backstamp.test", "تأكيد طلبك رقم ٤٨٢"],
    ["delivered+zoe@backstamp.test", "Ça y est : votre colis est arrivé 🎉"],
  ] as const;

  test("shows how to send the first email", async () => {
    await page.goto(`${backstamp.url}/console/emails`);
    const navigation = page.getByRole("navigation");
    expect(await navigation.getByRole("link", { name: "Guides" }).getAttribute("href")).toBe("/docs");
    await navigation.getByRole("link", { name: "API reference" }).click();
    await page.waitForURL(`${backstamp.url}/docs/api`);
    await page.getByRole("heading", { name: "API reference" }).waitFor(slowPage);
    await page.goBack();
    await page.getByRole("heading", { name: "No emails yet" }).waitFor();
    await page.getByRole("button", { name: "Send a test email" }).waitFor();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "emails-empty");
  });

  test("shows new emails and updates their statuses without a reload", async () => {
    for (const [to, subject] of EMAILS) await backstamp.send({ to, subject, html: `<p>${subject}</p>` });
    await expect.poll(() => rows().count(), slowPage).toBe(EMAILS.length);
    await expect.poll(() => rows().filter({ hasText: "Delivered" }).count(), slowPage).toBe(4);
    for (const status of ["Bounced", "Complained", "Suppressed"])
      await expect.poll(() => rows().filter({ hasText: status }).count(), slowPage).toBe(1);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "emails");
  });

  test("keeps its filters in the URL", async () => {
    await page.getByRole("button", { name: /^Status:/ }).click();
    await page.getByRole("menuitemcheckbox", { name: "Bounced" }).click();
    await expect.poll(() => rows().count(), slowPage).toBe(1);
    // The menu stays open for further statuses.
    await page.getByRole("menuitemcheckbox", { name: "Complained" }).click();
    await page.waitForURL(/status=bounced,complained|status=complained,bounced/);
    await expect.poll(() => rows().count(), slowPage).toBe(2);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "emails-statuses");
    await page.keyboard.press("Escape");
    await page.reload();
    await expect.poll(() => rows().count(), slowPage).toBe(2);
    await page
      .getByRole("button", { name: "Status: Complained, Bounced" })
      .or(page.getByRole("button", { name: "Status: Bounced, Complained" }))
      .waitFor();
    await page.getByLabel("Time").selectOption({ label: "Yesterday" });
    await expect.poll(() => rows().count(), slowPage).toBe(0);
    await page.getByLabel("Time").selectOption({ label: "Today" });
    await expect.poll(() => rows().count(), slowPage).toBe(2);
    await page.waitForURL((url) => url.searchParams.has("since") && !url.searchParams.has("until"));
    await page.reload();
    await expect.poll(() => rows().count(), slowPage).toBe(2);
    // The server does not know the time zone: the browser names the day when it has taken over the page.
    await expect.poll(() => page.getByLabel("Time").inputValue(), slowPage).toBe("today");
    const search = page.getByLabel("Search emails");
    await search.fill("nothing like this");
    await page.getByRole("heading", { name: "No matching emails" }).waitFor();
    await expectNoAccessibilityViolations(page);
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await expect.poll(() => rows().count(), slowPage).toBe(EMAILS.length);
    await search.fill("delivered+nora@backstamp.test");
    await expect.poll(() => rows().count(), slowPage).toBe(1);
    await search.fill("weekly DIGEST");
    await page.waitForURL(/search=weekly/);
    await expect.poll(() => rows().count(), slowPage).toBe(1);
  });

  test("works with the keyboard alone", async () => {
    await page.goto(`${backstamp.url}/console/emails`);
    await rows().first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.closest("li a")?.textContent ?? null);
    // Keys have no effect before hydration.
    await expect.poll(() => page.keyboard.press("k").then(focused), slowPage).toContain(EMAILS[0][1]);
    for (let step = 0; step < EMAILS.length + 2; step++) await page.keyboard.press("k");
    expect(await focused()).toContain(EMAILS.at(-1)?.[1]);
    for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
    expect(await focused()).toContain(EMAILS.at(-2)?.[1]);
    await page.keyboard.press("/");
    await page.keyboard.type("receipt jk/");
    const search = page.getByLabel("Search emails");
    expect(await search.inputValue()).toBe("receipt jk/");
    await search.fill("receipt");
    await page.waitForURL(/search=receipt/);
    await expect.poll(() => rows().count(), slowPage).toBe(1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const isOpen = () => page.getByRole("heading", { level: 1, name: EMAILS[0][1] }).waitFor();
    await isOpen();
    // Both ways back lead to the same list, where the row has the focus again.
    await page.keyboard.press("Escape");
    await page.waitForURL(/emails\?search=receipt/);
    await expect.poll(focused, slowPage).toContain(EMAILS[0][1]);
    await page.keyboard.press("Enter");
    await isOpen();
    await page.goBack();
    await page.waitForURL(/emails\?search=receipt/);
    await expect.poll(focused, slowPage).toContain(EMAILS[0][1]);
  });

  test("keeps its page of older emails in the URL", async () => {
    for (let n = 1; n <= 30; n++)
      await backstamp.send({ to: "delivered@backstamp.test", subject: `Page mail ${n}`, html: "x" });
    await page.goto(`${backstamp.url}/console/emails`);
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(/after=/);
    await page.getByText("Page mail 5", { exact: true }).waitFor();
    expect(await rows().count()).toBe(12);
    await page.getByRole("button", { name: "Newer" }).click();
    await page.waitForURL(/before=/);
    await page.getByText("Page mail 30", { exact: true }).waitFor();
    await page.goBack();
    await page.getByText("Page mail 5", { exact: true }).waitFor();
  });
});

describe("a failure", () => {
  test("is shown with the request id", async () => {
    await page.goto(`${backstamp.url}/console/emails?after=nonsense`);
    await page.getByRole("heading", { name: "Loading failed" }).waitFor();
    expect(await page.getByRole("alert").locator("code").textContent()).toMatch(/^[0-9a-f-]{36}$/);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "emails-failed");
    profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  });

  test("of a file on a page is shown with the server's message and the request id", async () => {
    await page.goto(`${backstamp.url}/console/emails`);
    await rows().first().click();
    const refusal = { error: { message: "Not now.", data: { code: "CONFLICT", requestId: "request-7" } } };
    await page.route(/\/source\?/, (route) => route.fulfill({ status: 409, json: refusal }));
    await page.getByRole("tab", { name: "Source" }).click();
    await page.getByText("Not now.").waitFor(slowPage);
    expect(await page.getByRole("alert").locator("code").textContent()).toBe("request-7");
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Message-ID: <", { exact: false }).first().waitFor(slowPage);
    profile.errors = profile.errors.filter(({ at }) => !at.includes("/source?"));
  });
});

describe("an email", () => {
  test("shows each attempt with its reason, as it happens", async () => {
    const id = await backstamp.send({
      to: ["deferred+slowly@backstamp.test", "bounced+away@backstamp.test"],
      cc: ["delivered+copy@backstamp.test"],
      subject: "Your order 10493 has left our workshop",
      html: NEWSLETTER,
      text: "It left this morning.",
      headers: { "X-Order": "10493" },
      tags: [{ name: "kind", value: "shipping" }],
    });
    await page.goto(`${backstamp.url}/console/emails/${id}`);
    const recipient = (address: string) =>
      page
        .getByRole("region", { name: /recipients/ })
        .getByRole("listitem")
        .filter({ hasText: address });
    await recipient("deferred+slowly").getByText("Delivered", { exact: true }).waitFor(slowPage);
    await recipient("bounced+away").getByText("Bounced", { exact: true }).waitFor(slowPage);
    await recipient("delivered+copy").getByText("Delivered", { exact: true }).waitFor(slowPage);
    const timeline = page.getByRole("region", { name: "Timeline" });
    expect(await timeline.locator("p", { hasText: "451 4.7.0" }).count()).toBe(2);
    await timeline.getByText("The next attempt follows the retry schedule").first().waitFor();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "email");
    await page.getByRole("tab", { name: "Text" }).click();
    await page.getByText("It left this morning.").waitFor();
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.getByText("X-Order").waitFor();
    await expectNoAccessibilityViolations(page);
  });

  test("that does not exist is not found, whatever its id", async () => {
    for (const id of ["01900000-0000-7000-8000-000000000000", "x", "..%2f..%2fetc"]) {
      await page.goto(`${backstamp.url}/console/emails/${id}`);
      await page.getByRole("heading", { name: "Not found" }).waitFor();
    }
    await page.goto(`${backstamp.url}/console/emails?team=01900000-0000-7000-8000-000000000000`);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
  });
});

describe("signing out", () => {
  test("ends the session, so a stored cookie is no longer valid", async () => {
    const cookies = await profile.context.cookies();
    await page.goto(`${backstamp.url}/console/emails`);
    await page.getByRole("button", { name: ADMIN.email }).click();
    await takePictures(page, "menu");
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL(`${backstamp.url}/login`);
    const names = (await profile.context.cookies()).map(({ name }) => name);
    expect(names).not.toContain("backstamp.session");
    await profile.context.addCookies(cookies);
    await page.goto(`${backstamp.url}/console/emails`);
    await page.waitForURL(/\/login/);
  });
});

const NEWSLETTER = `<!doctype html><html><body style="margin:0;background:#f4f1ea;font-family:Georgia,serif;color:#33302a">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" width="520" cellpadding="0" cellspacing="0" style="max-width:100%;background:#fff;border-radius:8px">
<tr><td style="padding:32px 36px 8px;font-size:13px;letter-spacing:.12em;color:#7a7364">ALDER &amp; OAK</td></tr>
<tr><td style="padding:0 36px;font-size:26px;line-height:1.3">Your order has left our workshop</td></tr>
<tr><td style="padding:16px 36px 0;font-size:16px;line-height:1.6">Dear Nora, the oak stool you ordered was oiled on Tuesday,
dried on Wednesday and left this morning. It should be with you on Friday.</td></tr>
<tr><td style="padding:24px 36px 36px"><a href="https://alder.example/orders/10493" style="display:inline-block;padding:12px 22px;
background:#3f5b45;color:#fff;border-radius:6px;text-decoration:none;font-size:15px">Follow your parcel</a></td></tr>
</table></td></tr></table></body></html>`;
