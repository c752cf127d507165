import type { Locator } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import { inStrings, type Listed, publish, startZone } from "../support/servers/zone";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const name = "mail.alder-oak.example";
const waitOptions = { timeout: 60_000 };

let id: string;

const { zone, peer } = await startZone();
const { backstamp, profile, page } = await openSignedIn(
  {
    SMTP_URL: "capture:",
    BACKSTAMP_HOSTNAME: "mail.backstamp.example",
    BACKSTAMP_DNS_SERVERS: `127.0.0.1:${peer.port}`,
  },
  { permissions: ["clipboard-read", "clipboard-write"] },
);
afterEach(() => expectNoErrors(profile));
const token = await backstamp.createKey();
afterAll(() => peer?.close());

type DomainRecord = Listed & { purpose: string };
const listed = async (): Promise<DomainRecord[]> =>
  (await backstamp.api("GET", `/domains/${id}`, undefined, token)).records;
const record = (title: string): Locator =>
  page.getByRole("list", { name: "Records" }).getByRole("listitem").filter({ hasText: title });
const verifyButton = () => page.getByRole("button", { name: /^(Verify records|Check again)$/ }).first();

const emptyStateHeading = () => page.getByRole("heading", { name: "No domain of your own yet" });

test("adding a domain shows its ASCII form and warns about confusable names", async () => {
  await page.goto(`${backstamp.url}/console/domains`);
  await emptyStateHeading().waitFor(waitOptions);
  await page.getByRole("button", { name: "Add domain" }).first().click();
  await page.getByLabel("Domain", { exact: true }).fill("pаypal.example");
  await page.getByText("mixes Latin and Cyrillic letters").waitFor(waitOptions);
  await page.getByText("xn--pypal-4ve.example").first().waitFor();
  await page.getByLabel("Domain", { exact: true }).fill("co.uk");
  await page.getByText("is a public suffix").waitFor(waitOptions);
  // The address of the web site, as copied from the browser.
  const field = page.getByLabel("Domain", { exact: true });
  await page.evaluate((url) => navigator.clipboard.writeText(url), `https://www.${name}/imprint`);
  await field.press("ControlOrMeta+a");
  await field.press("ControlOrMeta+v");
  await expect.poll(() => field.inputValue(), waitOptions).toBe(name);
  await page.getByText(`Bounces are sent to send.${name}.`).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await page.getByRole("dialog").getByRole("button", { name: "Add domain" }).click();
  await page.waitForURL(/\/console\/domains\/[0-9a-f-]{36}/, waitOptions);
  id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("heading", { level: 1, name }).waitFor();
  // An invalid name is rejected while it is typed. The browser logs these responses as errors.
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/domains.readName"));
});

test("the domain page shows the records with their names in full and without the zone", async () => {
  await page.getByRole("heading", { name: "Publish these records" }).waitFor();
  const key = record("DKIM key (RSA)").first();
  await key.getByText(`backstamp._domainkey.${name}`, { exact: true }).waitFor(waitOptions);
  await key.getByText("backstamp._domainkey.mail", { exact: true }).waitFor(waitOptions);
  await profile.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await record("Domain ownership")
    .getByRole("button", { name: "Copy Value: Domain ownership (TXT)" })
    .click();
  const ownership = (await listed()).find(({ purpose }) => purpose === "ownership");
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()), waitOptions)
    .toBe(ownership?.value);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "domain-new");
});

test("missing records and each fault are shown with advice", async () => {
  await verifyButton().click();
  await record("Domain ownership").getByText("Awaiting DNS").first().waitFor(waitOptions);
  for (const each of await listed()) {
    const { host, type, value, purpose } = each;
    if (purpose === "dkim") zone.set(`${host}.alder-oak.example`, type, inStrings(value));
    else if (purpose === "ownership") zone.set(host, type, `"${value}"`);
    else if (purpose === "spf") zone.set(host, type, value, "v=spf1 mx -all");
    else if (purpose === "mx") {
      zone.remove(host, "MX");
      zone.set(host, "CNAME", "proxy.example");
    }
  }
  zone.set(`_dmarc.${name}`, "TXT", "v=DMARC1; rua=mailto:a@example.com");
  await verifyButton().click();
  for (const [title, fault, advice] of [
    ["DKIM key (RSA)", "Domain appears twice in the name", "Enter only backstamp._domainkey.mail"],
    ["Domain ownership", "Value contains quotation marks", "Enter the value without"],
    ["Return path (SPF)", "Multiple SPF records", "Merge them into one"],
    ["DMARC policy", "DMARC record without a policy", "p=quarantine"],
  ] as const) {
    const card = record(title).first();
    await card.getByText(fault).first().waitFor(waitOptions);
    if (!(await card.getByText(advice).first().isVisible())) await card.locator("summary").click();
    await card.getByText(advice).first().waitFor(waitOptions);
  }
  await page.getByText("Fails", { exact: true }).waitFor();
  // The page is short: only the record to correct first is open, and it is the first of the list.
  await page.reload();
  const list = page.getByRole("list", { name: "Records" });
  await expect.poll(() => list.locator("details[open]").count(), waitOptions).toBe(1);
  expect(await list.locator("details").first().getAttribute("open")).not.toBeNull();
  expect(await list.locator("summary").first().innerText()).not.toContain("optional");
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3_000);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "domain-faults");
});

test("the open page updates when the records are verified", async () => {
  zone.clear();
  publish(zone, await listed());
  zone.set("_dmarc.alder-oak.example", "TXT", "v=DMARC1; p=quarantine");
  // The check is started through the API. The open page only refetches.
  await backstamp.api("POST", `/domains/${id}/verify`, {}, token);
  await page.getByText("All required records are verified").waitFor(waitOptions);
  await page.getByText("Passes").waitFor();
  await page.getByText("It is published at alder-oak.example and applies to its subdomains").waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "domain-verified");
});

test("settings are saved immediately, and the daily limit with a warm-up plan", async () => {
  await page.getByLabel("Open tracking").click();
  await expect.poll(() => page.getByLabel("Open tracking").isChecked(), waitOptions).toBe(true);
  await expect
    .poll(async () => (await backstamp.api("GET", `/domains/${id}`, undefined, token)).open_tracking)
    .toBe(true);
  await page.getByRole("button", { name: "Change…", exact: true }).click();
  await page.getByLabel("Warm up the domain").click();
  await page.getByLabel("Target").fill("20");
  await expectNoAccessibilityViolations(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("it ends at 20, so").waitFor(waitOptions);
  await page.getByLabel("Target").fill("400");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("0 of 50 recipients today (UTC)").waitFor(waitOptions);
  await page.getByText("no cap applies").waitFor();
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/domains.update"));
});

test("the list offers verification and confirmed removal of a domain", async () => {
  await page.goto(`${backstamp.url}/console/domains`);
  const menu = page.getByRole("button", { name: `Actions for ${name}` });
  await menu.click();
  await page.getByRole("menuitem", { name: "Check again" }).click();
  await page
    .getByText(/is verified|is not verified yet/)
    .first()
    .waitFor(waitOptions);
  await menu.click();
  await page.getByRole("menuitem", { name: "Remove domain…" }).click();
  await page
    .getByText(/No API key is restricted to this domain|permission to send from it/)
    .waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { name }).waitFor(waitOptions);
});

test("removing a domain lists the consequences and requires its name", async () => {
  await page.getByRole("button", { name: `More actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Remove domain…" }).click();
  await page.getByText("You can no longer send from this domain").waitFor();
  const remove = page.getByRole("button", { name: "Remove domain", exact: true });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel(/to confirm/).fill(name);
  await expectNoAccessibilityViolations(page);
  await remove.click();
  await page.waitForURL(/\/console\/domains(\?|$)/, waitOptions);
  await page.getByRole("link", { name: "backstamp.test" }).waitFor(waitOptions);
  expect(await page.getByRole("link", { name }).count()).toBe(0);
  await expect.poll(() => page.title(), waitOptions).toContain("Domains");
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "domains");
  await page.getByRole("link", { name: "backstamp.test" }).click();
  await page.getByText("Every team has it, and it cannot be changed").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
});

test("a domain that the operator verified shows its reports, although it is never checked", async () => {
  await backstamp.operate("domain", "add", "elm.example", "--verified");
  await page.goto(`${backstamp.url}/console/domains`);
  await page.getByRole("link", { name: "elm.example" }).click();
  await page.getByText("The operator verified this domain manually.").waitFor(waitOptions);
  await page.getByRole("region", { name: "What others report" }).waitFor(waitOptions);
});
