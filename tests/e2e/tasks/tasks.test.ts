import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf } from "../../support/console/authenticator-app";
import { ADMIN } from "../backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, type Watched } from "../browser";
import { type CountedUser, label, role, startCounting, text } from "./counted-user";
import { actionsOf, RECORDED, TASKS, type TaskName } from "./recorded";
import { formatTable, type Measured } from "./table";
import { BOUNCED, DISTANT, startTaskTeam, type TaskTeam, TEMPLATE_HTML } from "./team";

/*
 * Ten tasks of a user by the shortest way that the console offers, from the overview. A task ends as soon as
 * its result is visible. Its user counts each click and key press, and the test fails if it takes more of
 * them than recorded.
 */

const pollOptions = { timeout: 60_000, interval: 100 };
const measured = new Map<TaskName, Measured>();
let team: TaskTeam;
let browser: Browser;
let profile: Watched;

beforeAll(async () => {
  browser = await openBrowser();
  team = await startTaskTeam();
  profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  const page = await profile.context.newPage();
  await signIn(page, team.url, ADMIN.email, ADMIN.password);
  await page.close();
});
afterAll(async () => {
  process.stdout.write(`\n${formatTable(measured)}\n`);
  await browser?.close();
  await team?.stop();
});

const dialog = role("dialog");
const link = (name: string | RegExp, within = role("main")) => role("link", name, within);
const navigation = role("navigation", "Console");
const goTo = (page: string) => role("link", page, navigation);
const button = (name: string | RegExp) => role("button", name);
const inDialog = (name: string | RegExp) => role("button", name, dialog);

/** Performs a task on a new page that shows the overview, and compares its count with the recorded one. */
function testTask(name: TaskName, perform: (user: CountedUser) => Promise<void>): void {
  test(`${TASKS[name]}: at most ${actionsOf(RECORDED[name])} clicks and keys`, async () => {
    const page = await profile.context.newPage();
    const user = await startCounting(page);
    await page.goto(`${team.url}/console`);
    // Keys have an effect only once the page has its scripts.
    await page.waitForLoadState("networkidle");
    await perform(user);
    const effort = await user.effort();
    measured.set(name, { ...effort, steps: user.steps() });
    await page.close();
    expect(actionsOf(effort), user.steps()).toBeLessThanOrEqual(actionsOf(RECORDED[name]));
    expectNoErrors(profile);
  });
}

// By the list of recent failures on the overview, which has the bounce because it is recent.
testTask("bounce", async (user) => {
  await user.click(role("link", BOUNCED, role("region", "Recent failures")));
  const recipient = role("region", "Recipient");
  await user.sees(text(/550 5\.1\.1 The email account that you tried to reach does not exist/, recipient));
  await user.sees(text(/the mailbox does not exist/, recipient));
  await user.sees(text(/Check the address with the recipient/, recipient));
});

// By the list of emails and its action for all that match the filter.
testTask("retry", async (user) => {
  const failed = () => team.sql<{ id: string; isOld: boolean }[]>`
    select id, created_at < now() - interval '1 day' as "isOld" from emails where status = 'failed'`;
  const before = await failed();
  const [today, old] = [before.filter(({ isOld }) => !isOld), before.filter(({ isOld }) => isOld)];
  expect([today.length, old.length]).toEqual([20, 20]);
  team.repairMailServer();
  await user.click(goTo("Emails"));
  await user.choose(role("combobox", "Time"), "Today");
  await user.click(button("Retry emails…"));
  // The dialog also counts the ten deferred emails.
  await user.click(inDialog("Retry 30 emails"));
  await user.sees(text(/30 emails queued for retry/, dialog));
  await expect.poll(async () => (await failed()).length, pollOptions).toBe(old.length);
  expect((await failed()).every(({ isOld }) => isOld)).toBe(true);
  const retried = await team.sql`select distinct e.email_id, d.address from email_events e
    join deliveries d on d.email_id = e.email_id where e.data->>'reason' = 'Retried on request.'`;
  expect(retried.map(({ email_id: id }) => id)).toEqual(expect.arrayContaining(today.map(({ id }) => id)));
  expect(retried.filter(({ address }) => address.startsWith("gone"))).toEqual([]);
  await expect
    .poll(() => team.mailServer.messages.filter(({ to }) => to[0]?.startsWith("large")).length, pollOptions)
    .toBe(today.length);
});

// By the palette, which opens the form in the field of the name. The button stays visible.
testTask("key", async (user) => {
  await user.press("ControlOrMeta+k");
  await user.click(role("option", "Create key"));
  await user.type("Shop, staging", "a name");
  await user.click(text("Selected domains", dialog));
  await user.click(label("shop.alder-oak.example", dialog));
  await user.press("Enter");
  await user.click(inDialog("Copy: API key"));
  await expect.poll(() => user.clipboard(), pollOptions).toMatch(/^re_/);
  const token = await user.clipboard();
  const sendFrom = (domain: string) =>
    team.send(
      { from: `Shop <shop@${domain}>`, to: "late@customers.example", subject: "x", html: "x" },
      token,
    );
  await sendFrom("shop.alder-oak.example");
  await expect(sendFrom("alder-oak.example")).rejects.toThrow("403");
});

// By the palette, then all records at once as a zone file.
testTask("domain", async (user) => {
  const name = "notices.elm-ash.example";
  await user.press("ControlOrMeta+k");
  await user.click(role("option", "Add domain"));
  await user.type(name, "the domain");
  await user.press("Enter");
  await user.sees(text("DKIM key (RSA)", role("list", "Records")));
  await user.click(text("All records as a zone file"));
  await user.click(button(`Copy: ${name}.zone`));
  await expect.poll(() => user.clipboard(), pollOptions).toContain("_domainkey");
  const lines = (await user.clipboard()).split("\n");
  const { data } = await team.api("GET", "/domains");
  const { id } = data.find((each: { name: string }) => each.name === name);
  const { records }: { records: { host: string; type: string }[] } = await team.api("GET", `/domains/${id}`);
  expect(records.length).toBeGreaterThan(2);
  const isCopied = ({ host, type }: (typeof records)[number]) =>
    lines.some((line) => line.includes(`${host}. `) && line.includes(` IN ${type} `));
  expect(records.filter((record) => !isCopied(record))).toEqual([]);
});

// In the editor, whose publishing saves first and then offers the version before it.
testTask("template", async (user) => {
  const readHtml = async () => (await team.api("GET", `/templates/${team.template}`)).html;
  await user.click(goTo("Templates"));
  await user.click(link(/^Order receipt/));
  await user.click(role("textbox", "HTML"));
  await user.type("<p>Goodbye</p>", "a paragraph");
  await user.click(button("Publish…"));
  await user.click(role("button", "Publish", role("alertdialog")));
  await user.sees(text("version 3"));
  await expect.poll(readHtml, pollOptions).toContain("<p>Goodbye</p>");
  await user.click(button("Roll back to version 2…"));
  await user.click(role("button", "Roll back", role("alertdialog")));
  await user.sees(text("Rolled back to version 2"));
  expect(await readHtml()).toBe(TEMPLATE_HTML);
});

// By the number of failed event deliveries in the list of endpoints: later ones fill several pages of the
// endpoint.
testTask("replay", async (user) => {
  const before = team.receiver.received.filter(({ path }) => path === "/crm").length;
  const failed = role("table", "Event deliveries");
  await user.click(goTo("Webhooks"));
  await user.click(link(/^\d+ failed$/, role("row", /\/crm/)));
  await user.sees(text("Failed", failed));
  await user.click(role("button", "Replay", failed));
  await user.sees(text("Succeeded", role("list", "Replayed")));
  const calls = team.receiver.received.filter(({ path }) => path === "/crm");
  expect(calls).toHaveLength(before + 1);
  const ids = calls.map(({ headers }) => headers["webhook-id"]);
  // The same event again: its id is that of an earlier, failed attempt.
  expect(ids.indexOf(ids.at(-1))).toBeLessThan(ids.length - 1);
});

// By the palette, which opens the dialog directly.
testTask("import", async (user) => {
  const lines = ["email", "moved-1@customers.example", "moved-2@customers.example"];
  const file = { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(lines.join("\n")) };
  await user.press("ControlOrMeta+k");
  await user.click(role("option", "Import suppressions"));
  await user.chooseFile(text("Choose file", dialog), file);
  await user.sees(text("2 addresses suppressed.", dialog));
  const found =
    await team.sql`select address from suppressions where address like 'moved-%' order by address`;
  expect(found.map(({ address }) => address)).toEqual(lines.slice(1));
});

// By the palette, which opens the form directly.
testTask("invite", async (user) => {
  const invited = "cleo@alder-oak.example";
  await user.press("ControlOrMeta+k");
  await user.click(role("option", "Invite member"));
  await user.type(invited, "the address");
  await user.press("Enter");
  await user.sees(role("heading", `Invitation for ${invited}`));
  const found = await team.sql`select email from invitations`;
  expect(found.map(({ email }) => email)).toEqual([invited]);
});

// By the list of the settings. The recovery codes have to be confirmed, so this is the last step.
testTask("twoFactor", async (user) => {
  await user.click(goTo("Settings"));
  await user.click(role("link", "Security"));
  await user.click(button("Set up"));
  await user.type(ADMIN.password, "the password");
  await user.press("Enter");
  const secret = (await user.reads(text(/^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/, dialog))).replaceAll(" ", "");
  await user.type(codeOf(secret, new Date()), "the code of the app");
  await user.press("Enter");
  await user.click(inDialog("I saved my codes"));
  await user.sees(text("On", role("region", "Two-factor authentication (2FA)")));
  const factors = await team.sql`select * from totp_factors`;
  expect(factors).toHaveLength(1);
});

// By the palette, which selects its first result.
testTask("find", async (user) => {
  await user.press("ControlOrMeta+k");
  await user.type(DISTANT, "the address");
  await user.press("Enter");
  await user.sees(role("heading", "News for you, number 7"));
  await user.sees(text(/^To\s*reader-7@customers\.example$/, role("region", "Recipient")));
});
