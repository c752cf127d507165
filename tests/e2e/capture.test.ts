import type { Locator, Request, Route } from "playwright-core";
import { expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

/*
 * The first evening with a new installation that captures all email, as `npm run dev` does: every step of the
 * setup can be done, and no dialog can be submitted twice.
 */

const waitOptions = { timeout: 60_000 };

const { backstamp, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });

const setup = () => page.getByRole("region", { name: "Set up sending" });
const dialog = () => page.locator("[role=dialog], [role=alertdialog]");
const open = async (path: string) => {
  await page.goto(backstamp.url + path);
  await page.waitForLoadState("networkidle");
};

test("outgoing email is done in capture mode, and the domain step opens the form of a new domain", async () => {
  await open("/console");
  const outgoing = setup().getByRole("listitem").filter({ hasText: "Outgoing email" });
  await outgoing.getByText("(done)").waitFor({ ...waitOptions, state: "attached" });
  await setup().getByText("2 of 5 done").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "setup-capture");
  await setup().getByRole("link", { name: "Add a domain" }).click();
  await dialog().getByLabel("Domain").waitFor(waitOptions);
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  // The form does not open again with the page.
  await page.reload();
  await page.getByRole("heading", { name: "Domains", level: 1 }).waitFor(waitOptions);
  expect(await dialog().count()).toBe(0);
  expectNoErrors(profile);
});

test("keys that the setup creates have names of their own", async () => {
  await open("/console");
  for (let nth = 1; nth <= 2; nth++) {
    await setup()
      .getByRole("button", { name: /^Create/ })
      .click(waitOptions);
    await setup().getByRole("button", { name: "I have stored it" }).click(waitOptions);
  }
  const { data: keys } = JSON.parse(await backstamp.operate("key", "list", "--json"));
  const names: string[] = keys.map(({ name }: { name: string }) => name);
  expect(names).toHaveLength(3);
  expect(new Set(names).size).toBe(3);
});

test("a test email is addressed to a recipient that accepts it, also with a verified domain", async () => {
  await backstamp.operate("domain", "add", "shop.example", "--verified");
  const token = await backstamp.createKey("--scopes", "templates:write");
  const template = { name: "Receipt", subject: "Receipt", html: "<p>Thanks</p>", from: "hello@shop.example" };
  const { id } = await backstamp.api("POST", "/templates", template, token);
  const delivered = page.getByText("Delivered", { exact: true }).first();
  const send = async (button: string) => {
    expect(await dialog().getByLabel("To").inputValue()).not.toBe("");
    await dialog().getByRole("button", { name: button }).click();
    await dialog().getByRole("link", { name: "View email" }).click(waitOptions);
    await delivered.waitFor(waitOptions);
  };
  await open("/console");
  await setup().getByRole("button", { name: /^Send/ }).click(waitOptions);
  await dialog().getByLabel("To").waitFor(waitOptions);
  await send("Send test email");
  await open(`/console/templates/${id}`);
  await page.getByRole("button", { name: "Send test" }).click(waitOptions);
  await dialog().getByLabel("To").waitFor(waitOptions);
  await send("Send test");
});

const isNavigation = (url: URL) => url.searchParams.has("_rsc");

/**
 * Calls the procedure by `submit`, and again while the next page loads, which the test delays. Expects one
 * call, and then the next page.
 */
async function expectOneCall(procedure: string, submit: (maxMs: number) => Promise<void>, next: Locator) {
  let calls = 0;
  const count = (request: Request) => {
    if (request.method() === "POST" && request.url().includes(procedure)) calls++;
  };
  let held = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = async (route: Route) => {
    held++;
    await released;
    await route.continue();
  };
  page.on("request", count);
  await page.route(isNavigation, hold);
  await submit(waitOptions.timeout);
  await expect.poll(() => held, waitOptions).toBeGreaterThan(0);
  // A button that is disabled or gone rejects the click.
  await submit(3_000).catch(() => {});
  release();
  await next.waitFor(waitOptions);
  await page.unroute(isNavigation, hold);
  page.off("request", count);
  expect(calls, procedure).toBe(1);
}

const press = (name: string) => (timeout: number) =>
  dialog().getByRole("button", { name, exact: true }).click({ timeout });
const heading = (name: string) => page.getByRole("heading", { name, level: 1 });
const chooseAction = async (name: string, timeout = 60_000) => {
  await page.getByRole("button", { name: /^More actions/ }).click({ timeout });
  await page.getByRole("menuitem", { name }).click({ timeout });
};

test("what opens another page cannot be done twice before that page is there", async () => {
  await open("/console/domains?new=true");
  await dialog().getByLabel("Domain").fill("news.example", waitOptions);
  await expectOneCall("domains.add", press("Add domain"), heading("news.example"));
  await chooseAction("Remove domain…");
  await dialog().getByRole("textbox").fill("news.example");
  await expectOneCall("domains.remove", press("Remove domain"), heading("Domains"));

  await open("/console/templates?new=true");
  await dialog().getByLabel("Name").fill("Welcome", waitOptions);
  await expectOneCall("templates.create", press("Create and edit"), heading("Welcome"));
  await expectOneCall(
    "templates.duplicate",
    (maxMs) => chooseAction("Duplicate", maxMs),
    heading("Welcome (copy)"),
  );
  await chooseAction("Delete…");
  await expectOneCall("templates.remove", press("Delete template"), heading("Templates"));

  const token = await backstamp.createKey("--scopes", "webhooks:write");
  const webhook = { endpoint: "https://example.com/hooks", events: ["email.sent"] };
  const { id } = await backstamp.api("POST", "/webhooks", webhook, token);
  await open(`/console/webhooks/${id}`);
  await chooseAction("Delete…");
  await expectOneCall("webhooks.remove", press("Delete webhook"), heading("Webhooks"));
});
