import { beforeEach, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, takePictures } from "./browser";
import { fillTeam } from "./pages";

/*
 * A lost connection: the page says so and continues by itself when the connection is back. Until then nothing
 * stays disabled, every click stays inside the console, and what was typed stays on the page.
 */

const waitOptions = { timeout: 60_000 };

const { backstamp, page } = await openSignedIn({ SMTP_URL: "capture:" });
const testData = await fillTeam(backstamp);
beforeEach(async () => {
  await page.context().setOffline(false);
});

const bar = () => page.getByRole("status").filter({ hasText: "connection" });
const open = async (path: string) => {
  await page.goto(backstamp.url + path);
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
};
const goOffline = async () => {
  await page.context().setOffline(true);
  await bar().waitFor(waitOptions);
};
const goOnline = async () => {
  await page.context().setOffline(false);
  await bar().waitFor({ ...waitOptions, state: "detached" });
};
const isSameDocument = () => page.evaluate(() => "isSameDocument" in window);
const navigation = () => page.getByRole("navigation", { name: "Console" });

test("the bar is there as long as the connection is lost, and the page is read again after it", async () => {
  await open("/console/emails");
  await goOffline();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "offline");
  await backstamp.send({ to: "delivered@backstamp.test", subject: "Sent while offline", html: "x" });
  await goOnline();
  await page.getByText("Sent while offline").first().waitFor(waitOptions);
  expect(await isSameDocument()).toBe(true);
});

test("a service that does not respond is the same, although the browser has a network", async () => {
  await open("/console/emails");
  const isService = (url: URL) => url.origin === backstamp.url;
  await page.route(isService, (route) => route.abort("connectionrefused"));
  await bar().waitFor(waitOptions);
  await navigation().getByRole("link", { name: "Domains" }).click();
  await page.unroute(isService);
  await page.getByRole("heading", { name: "Domains", level: 1 }).waitFor(waitOptions);
  await bar().waitFor({ ...waitOptions, state: "detached" });
  expect(await isSameDocument()).toBe(true);
});

test("a form that is submitted without a connection can be submitted again", async () => {
  await open("/console/domains?new=true");
  const dialog = page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: "Add domain" });
  await dialog.getByLabel("Domain").fill("offline.example", waitOptions);
  await page.waitForLoadState("networkidle");
  await goOffline();
  await submit.click();
  await dialog.getByRole("alert").filter({ hasText: /\S/ }).waitFor(waitOptions);
  await expect.poll(() => submit.isEnabled(), waitOptions).toBe(true);
  expect(await dialog.getByLabel("Domain").inputValue()).toBe("offline.example");
  await goOnline();
  await submit.click();
  await page.getByRole("heading", { name: "offline.example", level: 1 }).waitFor(waitOptions);
});

test.each([
  ["prefetched", "Templates"],
  ["not prefetched", "Domains"],
])("a page of the menu that is %s opens when the connection is back", async (kind, label) => {
  await open("/console/suppressions");
  const link = navigation().getByRole("link", { name: label });
  if (kind === "prefetched") {
    await link.hover();
    await page.waitForLoadState("networkidle");
  }
  await goOffline();
  await link.click();
  await goOnline();
  await page.getByRole("heading", { name: label, level: 1 }).waitFor(waitOptions);
  await expect.poll(() => page.getByRole("table").count(), waitOptions).toBeGreaterThan(0);
  expect(await isSameDocument()).toBe(true);
});

test("a document of the menu opens when the connection is back, also by a key", async () => {
  for (const leave of [
    () => navigation().getByRole("link", { name: "Guides" }).click(),
    async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("h");
    },
  ]) {
    await open("/console/suppressions");
    await goOffline();
    await leave();
    expect(await isSameDocument()).toBe(true);
    await page.context().setOffline(false);
    await page.waitForURL(/\/docs/, waitOptions);
  }
});

test("what is typed stays and is saved afterwards, and code that could not be loaded loads then", async () => {
  await open(`/console/templates/${testData.template}`);
  const editor = page.getByRole("textbox", { name: "HTML" });
  await editor.waitFor(waitOptions);
  await goOffline();
  await editor.click();
  await page.keyboard.type("Written offline ");
  // The code of this dialog is not loaded yet.
  await page.getByRole("button", { name: /^Publish/ }).click();
  await expect.poll(() => page.getByText(/reload/i).count(), waitOptions).toBe(0);
  await goOnline();
  await page.getByRole("alertdialog").waitFor(waitOptions);
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(await editor.textContent()).toContain("Written offline");
  await page.getByText("Saved", { exact: true }).waitFor(waitOptions);
  expect(await isSameDocument()).toBe(true);
});
