import { afterEach, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoErrors } from "./browser";

/* Actions that the console also offers beside the usual way: by the palette or in a message. */

const slowPage = { timeout: 60_000 };
const api = (method: string, target: string, body?: unknown) => backstamp.api(method, target, body, key);

const { backstamp, profile, page } = await openSignedIn(
  { SMTP_URL: "capture:" },
  { permissions: ["clipboard-read", "clipboard-write"] },
);
afterEach(() => expectNoErrors(profile));
const key = await backstamp.createKey("--domains", "all");

test("a domain is added by the palette, and all its records are copied as a zone file", async () => {
  const name = "notices.elm-ash.example";
  await page.goto(`${backstamp.url}/console`);
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Add domain", exact: true }).click(slowPage);
  await page.getByRole("dialog").getByRole("textbox").first().fill(name, slowPage);
  await page.keyboard.press("Enter");
  await page.getByText("All records as a zone file").click(slowPage);
  await page.getByRole("button", { name: `Copy: ${name}.zone` }).click(slowPage);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied, slowPage).toContain("_domainkey");
  const lines = (await copied()).split("\n");
  const { data } = await api("GET", "/domains");
  const { id } = data.find((each: { name: string }) => each.name === name);
  const { records }: { records: { host: string; type: string }[] } = await api("GET", `/domains/${id}`);
  expect(records.length).toBeGreaterThan(2);
  const isCopied = ({ host, type }: (typeof records)[number]) =>
    lines.some((line) => line.includes(`${host}. `) && line.includes(` IN ${type} `));
  expect(records.filter((record) => !isCopied(record))).toEqual([]);
});

test("the message after publishing a template rolls back to the version before", async () => {
  const { id } = await api("POST", "/templates", { name: "Receipt", subject: "x", html: "<h1>First</h1>" });
  await api("POST", `/templates/${id}/publish`, {});
  const confirmation = page.getByRole("alertdialog");
  await page.goto(`${backstamp.url}/console/templates/${id}`);
  await page.getByRole("textbox", { name: "HTML" }).click(slowPage);
  await page.keyboard.insertText("<p>Goodbye</p>");
  await page.getByRole("button", { name: "Publish…" }).click(slowPage);
  await confirmation.getByRole("button", { name: "Publish" }).click(slowPage);
  await page.getByRole("button", { name: "Roll back to version 1…" }).click(slowPage);
  expect((await api("GET", `/templates/${id}`)).html).toContain("<p>Goodbye</p>");
  await confirmation.getByRole("button", { name: "Roll back" }).click(slowPage);
  await page.getByText("Rolled back to version 1").first().waitFor(slowPage);
  expect((await api("GET", `/templates/${id}`)).html).toBe("<h1>First</h1>");
});
