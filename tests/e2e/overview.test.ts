import type { Locator } from "playwright-core";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../support/database/postgres";
import { fillTotals } from "../support/database/recipient-totals";
import { openSignedIn } from "./backstamp";
import { expectNoErrors } from "./browser";

const slowPage = { timeout: 60_000 };

const database = await freshDatabase();
afterAll(() => database.drop());
const sql = postgres(database.url, { max: 1, onnotice: () => {} });
afterAll(() => sql.end());

/** Counted recipients of the emails of one day, all with the same tags. */
type Counted = { daysAgo: number; domain: string; provider: string; key?: string; tags: string[] } & Partial<
  Record<"received" | "sent" | "delivered" | "bounced" | "complained", number>
>;

async function count(given: Counted): Promise<void> {
  const { daysAgo, domain, provider, key = null, tags } = given;
  const { received = 0, sent = 0, delivered = 0, bounced = 0, complained = 0 } = given;
  const others = ["bounced_transient", "bounced_undetermined", "failed", "unknown", "suppressed", "canceled"];
  others.push("delayed", "opens", "clicks", "openers", "clickers", "opens_tracked", "clicks_tracked");
  others.push("unsubscribed");
  await sql`
    insert into recipient_counts (team_id, tag, unit, starts_at, domain, api_key_id, provider,
      received, sent, delivered, bounced_permanent, complained, ${sql.unsafe(others.join(", "))})
    select t.id, tag, unit, date_trunc(unit, now() - ${daysAgo} * interval '1 day', 'UTC'), ${domain},
      ${key}::uuid, ${provider}, ${received}::int, ${sent}::int, ${delivered}::int, ${bounced}::int,
      ${complained}::int, ${sql.unsafe(others.map(() => "0").join(", "))}
    from teams t, unnest(array['hour', 'day']) unit, unnest(${["", ...tags]}::text[]) tag`;
  await fillTotals(sql);
}

const { backstamp, profile, page } = await openSignedIn({
  DATABASE_URL: database.url,
  SMTP_URL: "capture:",
});
afterEach(() => expectNoErrors(profile));
beforeAll(async () => {
  for (const name of ["shop.example", "news.example"])
    await backstamp.operate("domain", "add", name, "--verified");
  const made = await backstamp.operate(
    ...["key", "create", "--name", "Shop", "--scopes", "emails:send", "--domains", "shop.example", "--json"],
  );
  const { id: key } = JSON.parse(made);
  const shop = { domain: "shop.example", provider: "gmail", key, tags: ["kind:receipt"] };
  await count({ ...shop, daysAgo: 0, received: 200, sent: 60, delivered: 120, bounced: 19, complained: 1 });
  await count({ ...shop, daysAgo: 8, received: 100, delivered: 100 });
  const news = { domain: "news.example", daysAgo: 3 };
  // With the receipts as many tags as the table shows, and one more with fewer recipients.
  const tags = Array.from({ length: 49 }, (_, n) => `issue:${n}`);
  await count({ ...news, provider: "yahoo", tags, received: 100, sent: 40, delivered: 60 });
  await count({ ...news, provider: "apple", tags: ["kind:rare"], received: 2, sent: 1, bounced: 1 });
});
beforeEach(async () => {
  await page.goto(`${backstamp.url}/console`);
  await expectTile("Accepted", /^Accepted302recipients/);
});

const tile = (name: string): Locator =>
  page.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });
const expectTile = (name: string, text: RegExp) =>
  expect.poll(() => tile(name).first().textContent(), { ...slowPage, message: name }).toMatch(text);
const filter = (name: string) => page.getByRole("combobox", { name, exact: true });
const region = (name: string | RegExp) => page.getByRole("region", { name });
/** The code of this table loads after the page, so the first click may be too early. */
const groupBy = (label: string) =>
  expect
    .poll(async () => {
      await page.getByRole("button", { name: label, exact: true }).click();
      return region(`Recipients by ${label.toLowerCase()}`).count();
    }, slowPage)
    .toBe(1);
const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

test("a custom range has its own first and last day", async () => {
  // No person enters a day before the page shows the figures of the one before.
  await page.getByRole("button", { name: "Custom" }).click();
  await page.waitForURL(/range=days/, slowPage);
  await page.getByLabel("First day").fill(dayBefore(9));
  await page.waitForURL(new RegExp(`since=${dayBefore(9)}`), slowPage);
  await expectTile("Accepted", /^Accepted402recipients/);
  await page.getByLabel("Last day").fill(dayBefore(8));
  await page.waitForURL(new RegExp(`since=${dayBefore(9)}&until=${dayBefore(8)}`), slowPage);
  await expectTile("Accepted", /^Accepted100recipients$/);
  await page.getByText("Show as table").click();
  const rows = region(/Recipients by day/).getByRole("row");
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.filter({ hasText: "(partial)" }).count()).toBe(0);
});

test("filters by domain, key and any tag change the figures", async () => {
  await filter("Domain").selectOption("shop.example");
  await expectTile("Accepted", /^Accepted200recipients\+100% from 100$/);
  await filter("Domain").selectOption("Any domain");
  await expectTile("Accepted", /^Accepted302recipients/);
  await filter("Key").selectOption("Shop");
  await expectTile("Accepted", /^Accepted200recipients/);
  await filter("Key").selectOption("Any key");
  await expectTile("Accepted", /^Accepted302recipients/);
  const tag = filter("Tag");
  const suggested = page.locator("datalist option");
  expect(await suggested.count()).toBe(0);
  await tag.focus();
  await expect.poll(() => suggested.count(), slowPage).toBe(50);
  expect(await suggested.evaluateAll((all) => all.map((each) => each.getAttribute("value")))).not.toContain(
    "kind:rare",
  );
  await tag.fill("kind:rare");
  await page.waitForURL(/tag=kind:rare|tag=kind%3Arare/, slowPage);
  await expectTile("Accepted", /^Accepted2recipients$/);
  await expectTile("Bounced", /^Bounced1of 2 sent$/);
  await expectTile("Complained", /^Complained0of 1 sent, excluding bounces$/);
  // Any other tag can still be selected.
  await expect.poll(() => suggested.count(), slowPage).toBe(50);
  await tag.fill("");
  await expectTile("Accepted", /^Accepted302recipients/);
});

test("a filter that was removed stays so when the router writes its URL once more", async () => {
  await filter("Domain").selectOption("shop.example");
  await page.waitForURL(/domain=shop.example/, slowPage);
  await filter("Domain").selectOption("Any domain");
  await page.waitForURL(/console$/, slowPage);
  // What Next does when a slow browser renders an earlier state late.
  await page.evaluate(async () => {
    await new Promise((resolve) => requestIdleCallback(resolve));
    history.replaceState(history.state, "", "?domain=shop.example");
  });
  await filter("Key").selectOption("Shop");
  await page.waitForURL(/console\?key=[^&]+$/, slowPage);
});

test("recipients are grouped by provider, domain or tag", async () => {
  const rowNames = (name: string) => region(`Recipients by ${name}`).getByRole("rowheader").allTextContents();
  await expect.poll(() => rowNames("provider"), slowPage).toEqual(["Gmail", "Yahoo", "Apple"]);
  await groupBy("Domain");
  await expect.poll(() => rowNames("domain")).toEqual(["shop.example", "news.example"]);
  const tagReads = () =>
    page.evaluate(
      () =>
        performance.getEntriesByType("resource").filter(({ name }) => name.includes("overview.tags")).length,
    );
  expect(await tagReads()).toBe(0);
  await groupBy("Tag");
  await expect.poll(async () => (await rowNames("tag")).length, slowPage).toBe(50);
  expect(await tagReads()).toBeGreaterThan(0);
  expect((await rowNames("tag"))[0]).toBe("kind:receipt");
  await region("Recipients by tag").getByText("1 more with fewer recipients.").waitFor();
});

test("the page of a domain has its figures of 30 days", async () => {
  await page.goto(`${backstamp.url}/console/domains`);
  await page.getByRole("link", { name: "shop.example" }).first().click();
  const card = region("Last 30 days");
  const figure = (name: string) => card.locator("dl > div").filter({ hasText: name });
  await expect.poll(() => figure("Accepted").textContent(), slowPage).toBe("Accepted300");
  expect(await figure("Delivered").textContent()).toBe("Delivered221 73.7% of sent");
  expect(await figure("Bounce rate").textContent()).toBe("Bounce rate6.3%");
  expect(await figure("Complaint rate").textContent()).toBe("Complaint rate0.36%");
  await card.getByRole("link", { name: "Overview" }).click();
  await page.waitForURL(/range=30d&domain=shop\.example/, slowPage);
  await expectTile("Accepted", /^Accepted300recipients$/);
});
