import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DnsPeer } from "../support/dns-peer";
import { inStrings, type Listed, publish, startZone, type Zone } from "../support/zone";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const name = "mail.alder-oak.example";
const patience = { timeout: 60_000 };

let zone: Zone;
let peer: DnsPeer;
let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let token: string;
let id: string;

beforeAll(async () => {
  ({ zone, peer } = await startZone());
  browser = await openBrowser();
  posthorn = await startPosthorn({
    SMTP_URL: "capture:",
    POSTHORN_HOSTNAME: "mail.posthorn.example",
    POSTHORN_DNS_SERVERS: `127.0.0.1:${peer.port}`,
  });
  const made = await posthorn.operate("key", "create", "--name", "Desk", "--scopes", "full_access", "--json");
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

const expectNothingOdd = () => {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  expect(profile.errors).toEqual([]);
};

type Seen = Listed & { purpose: string };
const listed = async (): Promise<Seen[]> =>
  (await posthorn.api("GET", `/domains/${id}`, undefined, token)).records;
const record = (title: string): Locator =>
  page.getByRole("list", { name: "Records" }).getByRole("listitem").filter({ hasText: title });
const look = () => page.getByRole("button", { name: /^(Verify now|Look again now)$/ }).first();

const ownMissing = () => page.getByRole("heading", { name: "No domain of your own yet" });

test("a domain is added by its name, which is told in both forms and warned of where it imitates", async () => {
  await page.goto(`${posthorn.url}/console/domains`);
  await ownMissing().waitFor(patience);
  await page.getByRole("button", { name: "Add domain" }).first().click();
  await page.getByLabel("Domain", { exact: true }).fill("pаypal.example");
  await page.getByText("mixes letters of Latin and Cyrillic").waitFor(patience);
  await page.getByText("xn--pypal-4ve.example").first().waitFor();
  await page.getByLabel("Domain", { exact: true }).fill("co.uk");
  await page.getByText("is a public suffix").waitFor(patience);
  await page.getByLabel("Domain", { exact: true }).fill(name);
  await expectNoBarriers(page);
  await page.getByRole("dialog").getByRole("button", { name: "Add domain" }).click();
  await page.waitForURL(/\/console\/domains\/[0-9a-f-]{36}/, patience);
  id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("heading", { level: 1, name }).waitFor();
  // A name that will not do is refused while it is typed, which the browser notes by itself.
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/domains.readName"));
  expectNothingOdd();
});

test("only a team that has none of its own is asked for one, and no later page of its list asks", async () => {
  const address = page.url();
  for (const query of ["", `?after=${id}`]) {
    await page.goto(`${posthorn.url}/console/domains${query}`);
    await page.getByRole("row").filter({ hasText: "posthorn.test" }).waitFor(patience);
    expect(await page.getByRole("row").filter({ hasText: name }).count()).toBe(query === "" ? 1 : 0);
    expect(await ownMissing().count()).toBe(0);
  }
  await page.goto(address);
  expectNothingOdd();
});

test("its page leads from the provider's form to the look, and remembers the provider", async () => {
  await page.getByRole("heading", { name: "Choose your DNS provider" }).waitFor();
  await page.getByLabel("DNS provider").selectOption({ label: "Cloudflare" });
  await record("Signature key (DKIM)")
    .first()
    .getByText("posthorn._domainkey.mail", { exact: true })
    .waitFor(patience);
  await page.getByLabel("Zone that you edit there").selectOption({ label: name });
  await record("Signature key (DKIM)")
    .first()
    .getByText("posthorn._domainkey", { exact: true })
    .waitFor(patience);
  await page.reload();
  expect(await page.getByLabel("DNS provider").inputValue()).toBe("cloudflare");
  await profile.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await record("Proof of ownership")
    .getByRole("button", { name: "Copy Content: Proof of ownership" })
    .click();
  const ownership = (await listed()).find(({ purpose }) => purpose === "ownership");
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()), patience)
    .toBe(ownership?.value);
  await expectNoBarriers(page);
  await takePictures(page, "domain-new");
  expectNothingOdd();
});

test("what is not there yet, and each fault, is said in words with what to do", async () => {
  await look().click();
  await record("Proof of ownership").getByText("Not there yet").first().waitFor(patience);
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
  await look().click();
  for (const [title, fault, advice] of [
    ["Signature key (DKIM)", "The domain stands twice in the name", "Enter only posthorn._domainkey.mail"],
    ["Proof of ownership", "Quotation marks became part of the value", "Enter the value without"],
    ["Permission to send (SPF)", "Two SPF records", "Merge them into one"],
    ["Policy for mail that fails (DMARC)", "The DMARC record names no policy", "p=quarantine"],
  ] as const) {
    await record(title).first().getByText(fault).first().waitFor(patience);
    await record(title).first().getByText(advice).first().waitFor(patience);
  }
  await page.getByText("Would not pass").waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "domain-faults");
  expectNothingOdd();
});

test("once DNS is right the open page tells so by itself", async () => {
  zone.clear();
  publish(zone, await listed());
  zone.set("_dmarc.alder-oak.example", "TXT", "v=DMARC1; p=quarantine");
  // Somebody else asks for the look: this page only watches.
  await posthorn.api("POST", `/domains/${id}/verify`, {}, token);
  await page.getByText("Everything is in order").waitFor(patience);
  await page.getByText("Passes").waitFor();
  await page.getByText("It stands at alder-oak.example and holds below it").waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "domain-verified");
  expectNothingOdd();
});

test("settings are saved where they stand, and the limits with a plan of the days", async () => {
  await page.getByLabel("Count opens").click();
  await expect.poll(() => page.getByLabel("Count opens").isChecked(), patience).toBe(true);
  await expect
    .poll(async () => (await posthorn.api("GET", `/domains/${id}`, undefined, token)).open_tracking)
    .toBe(true);
  await page.getByRole("button", { name: "Change…", exact: true }).click();
  await page.getByLabel("Warm the domain up").click();
  await page.getByLabel("Ends at").fill("20");
  await expectNoBarriers(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("it ends at 20, so its").waitFor(patience);
  await page.getByLabel("Ends at").fill("400");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("0 of 50 recipients today (UTC)").waitFor(patience);
  await page.getByText("then any number").waitFor();
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/domains.update"));
  expectNothingOdd();
});

test("new DKIM keys wait beside the present ones until they are seen", async () => {
  await page.getByRole("button", { name: "Rotate the keys" }).click();
  await page.getByText("Mail goes on being signed with the present key").waitFor();
  await page.getByRole("button", { name: "Make new keys" }).click();
  const keys = page.getByRole("list", { name: "DKIM keys" });
  await expect.poll(() => keys.getByText("Waits to be seen").count(), patience).toBe(2);
  await record("Next signature key (DKIM)").waitFor(patience);
  publish(zone, await listed());
  await look().click();
  await expect.poll(() => keys.getByText("record stays until").count(), patience).toBeGreaterThan(0);
  await expectNoBarriers(page);
  expectNothingOdd();
});

test("a domain is looked at, and asked about before it goes, from the list", async () => {
  await page.goto(`${posthorn.url}/console/domains`);
  const menu = page.getByRole("button", { name: `Actions for ${name}` });
  await menu.click();
  await page.getByRole("menuitem", { name: "Look again now" }).click();
  await page
    .getByText(/everything is in order|is not in order yet/)
    .first()
    .waitFor(patience);
  await menu.click();
  await page.getByRole("menuitem", { name: "Remove the domain…" }).click();
  await page.getByText(/No API key is linked to it alone|right to send from it/).waitFor(patience);
  await expectNoBarriers(page);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { name }).waitFor(patience);
  expectNothingOdd();
});

test("a domain goes only by its name, and is told what stops", async () => {
  await page.getByRole("button", { name: `More for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Remove the domain…" }).click();
  await page.getByText("Nothing can be sent from it any more").waitFor();
  const remove = page.getByRole("button", { name: "Remove the domain", exact: true });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel(/to go on/).fill(name);
  await expectNoBarriers(page);
  await remove.click();
  await page.waitForURL(/\/console\/domains(\?|$)/, patience);
  await page.getByRole("link", { name: "posthorn.test" }).waitFor(patience);
  expect(await page.getByRole("link", { name }).count()).toBe(0);
  await expectNoBarriers(page);
  await takePictures(page, "domains");
  await page.getByRole("link", { name: "posthorn.test" }).click();
  await page.getByText("every team has it, and nobody changes it").waitFor(patience);
  await expectNoBarriers(page);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
  expectNothingOdd();
});
