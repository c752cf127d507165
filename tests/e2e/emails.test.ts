import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Download } from "playwright-core";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { DROP, PASS, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openSignedIn } from "./backstamp";
import { expectExactTimes, expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

/** While it is false, the mail server rejects or defers recipients by the local part of their address. */
let isOpen = false;
const slowPage = { timeout: 60_000 };

const towards = new Map<number, string>();
const peer = await startSmtpTestServer({
  rcpt: ({ address, connection }) => {
    towards.set(connection, address);
    if (isOpen) return PASS;
    if (address.startsWith("closed")) return "550 5.7.1 <img src=x onerror=alert(1)> not from you";
    if (address.startsWith("gone")) return "550 5.1.1 no such user";
    return address.startsWith("slow") ? "451 4.7.1 greylisted, come back" : PASS;
  },
  message: ({ connection }) => (towards.get(connection)?.startsWith("lost") && !isOpen ? DROP : PASS),
});
const { backstamp, profile, page } = await openSignedIn(
  { SMTP_URL: `smtp://127.0.0.1:${peer.port}` },
  { acceptDownloads: true },
);
afterEach(() => expectNoErrors(profile));
await backstamp.operate("domain", "add", "example.org", "--verified");
await backstamp.operate("domain", "add", "capped.org", "--verified");
await backstamp.operate("domain", "set", "capped.org", "--daily-cap", "1");
await backstamp.operate("team", "set", "First team", "--unknown", "hold");
const token = await backstamp.createKey("--domains", "example.org,capped.org");
afterAll(() => peer?.close());

const rows = () => page.getByRole("list", { name: "Emails" }).getByRole("listitem");
const send = (body: Record<string, unknown>) =>
  backstamp.send({ from: "Shop <shop@example.org>", subject: "Hello", html: "<p>Hello</p>", ...body }, token);
const open = (id: string) => page.goto(`${backstamp.url}/console/emails/${id}`);
const recipients = () => page.getByRole("region", { name: /recipient/i });
const textOf = async (download: Download) => readFileSync(await download.path(), "utf8");
async function save(press: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return download;
}

describe("the list", () => {
  test("finds an email by id, address, subject, tag, Message-ID, key, domain and time", async () => {
    for (let n = 0; n < 3; n++) await send({ to: `reader${n}@example.net`, subject: `News ${n}` });
    await send({
      to: "needle@example.net",
      subject: '=HYPERLINK("https://evil.example") parcel',
      tags: [{ name: "kind", value: "receipt" }],
      attachments: [
        { filename: 'a b".html', content: Buffer.from("<script>alert(1)</script>").toString("base64") },
      ],
    });
    await page.goto(`${backstamp.url}/console/emails`);
    const search = page.getByLabel("Search emails");
    for (const text of ["needle@example.net", "tag:kind=receipt"]) {
      await search.fill(text);
      await expect.poll(() => rows().count(), slowPage).toBe(1);
      expect(await rows().first().textContent()).toContain("needle@example.net");
    }
    await page.waitForURL(/search=/);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect.poll(() => rows().count(), slowPage).toBe(4);
    await page.getByTitle("Key", { exact: true }).selectOption({ label: "Shop" });
    await page.waitForURL(/key=/);
    await page.getByTitle("Domain", { exact: true }).selectOption({ label: "capped.org" });
    await page.getByRole("heading", { name: "No matching emails" }).waitFor(slowPage);
    await page.getByTitle("Domain", { exact: true }).selectOption({ label: "Any domain" });
    await page.getByTitle("Time", { exact: true }).selectOption({ label: "Last hour" });
    await expect.poll(() => rows().count(), slowPage).toBe(4);
  });

  test("stays in place while the user reads it, and shows the number of new emails", async () => {
    await page.goto(`${backstamp.url}/console/emails`);
    await rows().first().hover();
    const before = await rows().first().textContent();
    await send({ to: "newer@example.net", subject: "Newer" });
    const newer = page.getByRole("button", { name: "1 new" });
    await newer.hover(slowPage);
    expect((await rows().first().textContent())?.slice(0, 20)).toBe(before?.slice(0, 20));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await newer.isVisible()).toBe(true);
    await newer.click();
    await expect.poll(() => rows().first().textContent(), slowPage).toContain("newer@example.net");
    await expectNoAccessibilityViolations(page);
  });
});

describe("failed emails", () => {
  test("are retried as a selection or by filter, after the dialog shows their number", async () => {
    for (let n = 0; n < 4; n++) await send({ to: `closed${n}@example.net`, subject: `Refused ${n}` });
    await page.goto(`${backstamp.url}/console/emails?status=bounced`);
    await expect.poll(() => rows().count(), slowPage).toBe(4);
    await takePictures(page, "emails-bounced");
    isOpen = true;
    const boxes = rows().getByRole("checkbox");
    await boxes.nth(0).click();
    await boxes.nth(1).click({ modifiers: ["Shift"] });
    const bar = page.getByRole("toolbar", { name: "Selected emails" });
    await bar.getByText("2 selected").waitFor();
    await expectNoAccessibilityViolations(page);
    await bar.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Retry 2 emails" }).click();
    await page.getByText("2 emails queued for retry").waitFor(slowPage);
    await expect.poll(() => rows().count(), slowPage).toBe(2);
    await page.getByRole("button", { name: "Retry emails…" }).click();
    const dialog = page.getByRole("dialog", { name: "Retry emails" });
    await dialog.getByText("2 emails", { exact: true }).waitFor(slowPage);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "emails-retry");
    await dialog.getByRole("button", { name: "Retry 2 emails" }).click();
    await dialog.getByText("2 emails queued for retry, 2 recipients.").waitFor(slowPage);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("heading", { name: "No matching emails" }).waitFor(slowPage);
    await expect
      .poll(() => peer.messages.filter(({ to }) => to[0]?.startsWith("closed")).length, slowPage)
      .toBe(4);
    isOpen = false;
  });
});

describe("the page of an email explains", () => {
  test("a bounce: the reply, its meaning and what to do", async () => {
    const id = await send({ to: ["gone@example.net", "closed@example.net"], subject: "Two refusals" });
    await open(id);
    const gone = recipients().getByRole("listitem").filter({ hasText: "gone@example.net" });
    await gone.getByText("Bounced", { exact: true }).waitFor(slowPage);
    await gone.getByText("rejected the email permanently: the mailbox does not exist").waitFor();
    await gone.getByText("Check the address with the recipient", { exact: false }).waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByText("550 5.1.1 no such user", { exact: false }).first().waitFor();
    await timeline.getByText("<img src=x onerror=alert(1)>", { exact: false }).first().waitFor();
    await timeline.getByText("SMTP dialogue").first().click();
    await timeline.getByText("RCPT TO:<gone@example.net>", { exact: false }).first().waitFor();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "email-bounced");
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByLabel("gone@example.net").uncheck();
    isOpen = true;
    await dialog.getByRole("button", { name: "Retry" }).click();
    const closed = recipients().getByRole("listitem").filter({ hasText: "closed@example.net" });
    await closed.getByText("Sent", { exact: true }).waitFor(slowPage);
    await gone.getByText("Bounced", { exact: true }).waitFor();
    await timeline.getByText("attempt 2").waitFor(slowPage);
    await page.getByRole("button", { name: "Exact times" }).click();
    await timeline
      .getByText(/\d\d:\d\d:\d\d\.\d{3}/)
      .first()
      .waitFor();
    isOpen = false;
  });

  test("a delay: the next attempt after greylisting, or the daily cap of the domain", async () => {
    await open(await send({ to: "slow@example.net", subject: "Greylisted" }));
    await recipients().getByText("Deferred", { exact: true }).waitFor(slowPage);
    await recipients()
      .getByText(/^Next attempt [^.]*\.$/)
      .waitFor();
    await recipients()
      .getByText(/Temporary failure: a later attempt may succeed/)
      .waitFor();
    await page.getByText(/Next attempt .* later/).waitFor(slowPage);
    await expectExactTimes(page);
    await takePictures(page, "email-deferred");
    const from = "Shop <shop@capped.org>";
    await send({ from, to: "first@example.net", subject: "Within the cap" });
    await expect
      .poll(() => peer.messages.some(({ to }) => to[0] === "first@example.net"), slowPage)
      .toBe(true);
    await open(await send({ from, to: "second@example.net", subject: "Over the cap" }));
    await recipients()
      .getByText(/The daily cap of the sender's domain is reached\./)
      .waitFor(slowPage);
    await recipients().getByText("Sent today by capped.org: 1 of 1 recipients.").waitFor();
  });

  test("an unknown outcome, which a member resolves", async () => {
    await open(await send({ to: "lost@example.net", subject: "Lost" }));
    await recipients().getByText("Unknown", { exact: true }).waitFor(slowPage);
    await recipients()
      .getByText(/The outcome of the last attempt is unknown. The team.s policy is to wait/)
      .waitFor();
    await page.getByRole("button", { name: "Resolve…" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Resolve unknown outcome" });
    await dialog.getByText("Send again", { exact: true }).first().waitFor();
    await takePictures(page, "email-resolve");
    await dialog.getByLabel("Mark as sent").check();
    await dialog.getByRole("button", { name: "Mark as sent" }).click();
    await recipients().getByText("Sent", { exact: true }).waitFor(slowPage);
    await page.getByRole("region", { name: "Timeline" }).getByText("Marked as sent on request.").waitFor();
  });
});

describe("a scheduled email", () => {
  test("is rescheduled from its present time, and canceled after confirmation", async () => {
    await open(await send({ to: "later@example.net", subject: "Later", scheduled_at: "in 2 hours" }));
    await page.getByRole("button", { name: "Reschedule…" }).click();
    const field = page.getByRole("dialog").getByLabel("Send at");
    expect(Math.round((Date.parse(await field.inputValue()) - Date.now()) / 3_600_000)).toBe(2);
    await field.fill(`${new Date(Date.now() + 5 * 3_600_000).toISOString().slice(0, 16)}`);
    await expectNoAccessibilityViolations(page);
    await page.getByRole("dialog").getByRole("button", { name: "Reschedule" }).click();
    await page.getByText(/will be sent .* \(in [45] h\)/).waitFor(slowPage);
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel email" }).click();
    await recipients().getByText("Canceled", { exact: true }).waitFor(slowPage);
    expect(await page.getByRole("button", { name: "Reschedule…" }).count()).toBe(0);
  });
});

describe("an email is downloaded", () => {
  test("as .eml, and its attachments as files", async () => {
    const found = await page.goto(`${backstamp.url}/console/emails?search=needle%40example.net`);
    expect(found?.ok()).toBe(true);
    await rows().first().getByRole("link").click();
    await page.getByRole("button", { name: "More actions" }).click();
    const eml = await save(() => page.getByRole("menuitem", { name: "Download .eml" }).click());
    expect(eml.suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.eml$/);
    const text = await textOf(eml);
    expect(text).toMatch(/^To: needle@example\.net\r$/m);
    expect(text).toMatch(/^Subject: =HYPERLINK/m);
    await page.getByRole("tab", { name: "Source" }).click();
    await page.getByText("Message-ID: <", { exact: false }).first().waitFor(slowPage);
    await page.getByRole("tab", { name: "Files (1)" }).click();
    const file = await save(() => page.getByRole("link", { name: /^Download/ }).click());
    expect(await textOf(file)).toBe("<script>alert(1)</script>");
    await expectNoAccessibilityViolations(page);
  });

  test("as a curl command, which sends the same email", async () => {
    const text = 'It\'s "quoted", `ticked` and $HOME\nis two lines long.';
    const given = { to: ["twin@example.net"], subject: "It's a $TWIN", text, html: `<p>'x' "y" $z</p>` };
    await open(
      await send({ ...given, headers: { "X-Order": "7" }, tags: [{ name: "kind", value: "twin" }] }),
    );
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Copy as curl…" }).click();
    const dialog = page.getByRole("dialog", { name: "Copy as curl" });
    const command = (await dialog.locator("pre").textContent(slowPage)) ?? "";
    await expectNoAccessibilityViolations(page);
    const answer = execFileSync("/bin/sh", ["-c", command], {
      env: { ...process.env, BACKSTAMP_KEY: token, HOME: "/nowhere", NO_PROXY: "localhost" },
      encoding: "utf8",
    });
    const { id } = JSON.parse(answer);
    const response = await fetch(`${backstamp.url}/api/emails/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toMatchObject({
      ...given,
      from: "Shop <shop@example.org>",
      headers: { "X-Order": "7" },
      tags: [{ name: "kind", value: "twin" }],
    });
  });
});
