import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultPeer, startFaultPeer } from "../support/smtp-peer";
import { expectNoBarriers, openBrowser, openProfile, signIn, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const patience = { timeout: 60_000 };

let peer: FaultPeer;
let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let token: string;

beforeAll(async () => {
  peer = await startFaultPeer({ rcpt: "550 5.7.1 not from you" });
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: `smtp://127.0.0.1:${peer.port}` });
  await posthorn.operate("domain", "add", "example.org", "--verified");
  const made = await posthorn.operate(
    ...["key", "create", "--name", "Shop", "--scopes", "emails:send", "--domains", "example.org", "--json"],
  );
  token = JSON.parse(made).token;
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
  await peer?.close();
});

test("much mail that failed is retried step by step, until somebody stops it", async () => {
  const mails = Array.from({ length: 101 }, (_, n) => ({
    from: "Shop <shop@example.org>",
    to: `reader${n}@example.net`,
    subject: "One of many",
    html: "<p>Hello</p>",
  }));
  await posthorn.api("POST", "/emails/batch", mails.slice(0, 100), token);
  await posthorn.api("POST", "/emails", mails[100], token);
  await page.goto(`${posthorn.url}/console/emails?status=bounced`);
  const dialog = page.getByRole("dialog", { name: "Retry all that failed" });
  const counted = async () => {
    await page.getByRole("button", { name: "Retry failed…" }).click();
    await dialog.getByText(/^(Nothing to retry|The filters find)/).waitFor(patience);
    const said = (await dialog.getByRole("status").textContent()) ?? "";
    if (!said.includes("101 mails")) await page.keyboard.press("Escape");
    return said;
  };
  await expect.poll(counted, patience).toContain("101 mails");
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route(/emails\.retryMatching/, async (route) => {
    await held;
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Retry 101 mails" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  // What runs is ended by its own button alone.
  await page.keyboard.press("Escape");
  await dialog.getByText("Working…").waitFor();
  await expectNoBarriers(page);
  goOn();
  await dialog.getByText("Stopped. 100 mails back in the queue, for 100 recipients.").waitFor(patience);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect.poll(() => page.getByRole("dialog").count(), patience).toBe(0);
  expect([profile.dialogs, profile.foreign, profile.errors]).toEqual([[], [], []]);
});
