import { afterAll, expect, test } from "vitest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors } from "./browser";

const slowPage = { timeout: 60_000 };

const peer = await startSmtpTestServer({ rcpt: "550 5.7.1 not from you" });
const { backstamp, profile, page } = await openSignedIn({
  SMTP_URL: `smtp://127.0.0.1:${peer.port}`,
});
await backstamp.operate("domain", "add", "example.org", "--verified");
const token = await backstamp.createKey("--domains", "example.org");
afterAll(() => peer?.close());

test("many failed emails are retried in batches until the user stops it", async () => {
  const emails = Array.from({ length: 101 }, (_, n) => ({
    from: "Shop <shop@example.org>",
    to: `reader${n}@example.net`,
    subject: "One of many",
    html: "<p>Hello</p>",
  }));
  await backstamp.api("POST", "/emails/batch", emails.slice(0, 100), token);
  await backstamp.api("POST", "/emails", emails[100], token);
  await page.goto(`${backstamp.url}/console/emails?status=bounced`);
  const dialog = page.getByRole("dialog", { name: "Retry emails" });
  const readSummary = async () => {
    await page.getByRole("button", { name: "Retry emails…" }).click();
    await dialog.getByText(/^(Nothing to retry|Matching emails)/).waitFor(slowPage);
    const summary = (await dialog.getByRole("status").textContent()) ?? "";
    if (!summary.includes("101 emails")) await page.keyboard.press("Escape");
    return summary;
  };
  await expect.poll(readSummary, slowPage).toContain("101 emails");
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/emails\.retryMatching/, async (route) => {
    await held;
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Retry 101 emails" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  // While the retry runs, only its own button closes the dialog.
  await page.keyboard.press("Escape");
  await dialog.getByText("Working…").waitFor();
  await expectNoAccessibilityViolations(page);
  release();
  await dialog.getByText("Stopped. 100 emails queued for retry, 100 recipients.").waitFor(slowPage);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect.poll(() => page.getByRole("dialog").count(), slowPage).toBe(0);
  expectNoErrors(profile);
});
