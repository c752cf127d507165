import { afterAll, afterEach, expect, test } from "vitest";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { ADMIN, openSignedIn } from "./backstamp";
import {
  expectNoAccessibilityViolations,
  expectNoErrors,
  openProfile,
  signIn,
  takePictures,
} from "./browser";

const waitOptions = { timeout: 60_000 };
const PERSON = { email: "ben@example.org", password: "correct horse battery" } as const;
const PATHS = ["", "/alerts", "/doctor", "/relays", "/destinations", "/replies", "/queues", "/teams"].map(
  (path) => `/console/installation${path}`,
);

const login = Buffer.from("\0user\0pass-never-shown").toString("base64");
const server = await startSmtpTestServer({
  ehlo: EHLO_AUTH,
  auth: ({ line }) => (line.includes(login) ? "235 welcome" : "535 5.7.8 no"),
});
const { backstamp, browser, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
afterEach(() => expectNoErrors(profile));
await backstamp.operate("user", "create", PERSON.email, "--password", PERSON.password, "--role", "owner");
await backstamp.operate("destination", "set", "example.com", "--connections", "4", "--per-minute", "120");
await backstamp.operate(
  "reply",
  "set",
  "closed",
  "--pattern",
  "450*closed",
  "--class",
  "hard",
  "--action",
  "bounce",
);
afterAll(() => server?.close());

const dialog = () => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const open = (path: string) => page.goto(`${backstamp.url}${path}`);

test("an operator reaches the pages of the installation by the navigation", async () => {
  await open("/console");
  await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Installation" }).click();
  await page.getByRole("heading", { name: "Readiness" }).waitFor(waitOptions);
  await page.getByRole("row").filter({ hasText: "Healthy" }).first().waitFor(waitOptions);
  await takePictures(page, "installation-status");
  await page.getByRole("link", { name: "Destinations" }).click();
  await page.getByRole("row").filter({ hasText: "example.com" }).getByText("120").waitFor(waitOptions);
  await takePictures(page, "installation-destinations");
  await page.getByRole("link", { name: "Reply rules" }).click();
  await page.getByRole("row").filter({ hasText: "450*closed" }).getByText("Bounce").waitFor(waitOptions);
  await takePictures(page, "installation-reply-rules");
  await page.getByRole("link", { name: "Teams" }).click();
  await page.getByRole("row").filter({ hasText: "First team" }).getByText("Active").waitFor(waitOptions);
  await takePictures(page, "installation-teams");
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  await page.getByRole("heading", { name: "No open alerts" }).waitFor(waitOptions);
  await page.getByText("No team is paused automatically.").waitFor(waitOptions);
  await takePictures(page, "installation-alerts");
  await page.getByRole("link", { name: "Doctor", exact: true }).click();
  await page.getByRole("button", { name: "Run checks" }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: "Database" })
    .getByText("OK")
    .first()
    .waitFor(waitOptions);
  await takePictures(page, "installation-doctor");
  for (const path of PATHS) {
    expect((await open(path))?.status()).toBe(200);
    await page.getByRole("heading", { name: "Installation" }).waitFor(waitOptions);
  }
});

test("the overview states that captured email is counted as delivered", async () => {
  await open("/console");
  await page.getByText(/^Email is captured and not sent\. It counts as delivered\.$/).waitFor(waitOptions);
});

test("a relay is added, tested, paused with a reason and resumed", async () => {
  await open("/console/installation/relays");
  await page.getByRole("heading", { name: "No relays" }).waitFor(waitOptions);
  await page.getByText("Email is captured and not sent.").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await page.getByRole("button", { name: "Add relay" }).click();
  await dialog().getByLabel("Name").fill("main", waitOptions);
  await dialog().getByLabel("Host").fill("127.0.0.1");
  await dialog().getByLabel("Port").fill(String(server.port));
  await dialog().getByLabel("Encryption").selectOption("opportunistic");
  await dialog().getByLabel("User").fill("user");
  await dialog().getByLabel("Password").fill("pass-never-shown");
  await takePictures(page, "installation-add-relay");
  await dialog().getByRole("button", { name: "Add relay" }).click();
  const row = page.getByRole("row").filter({ hasText: "main" });
  await row.getByText("Healthy").waitFor(waitOptions);
  const choose = async (item: string) => {
    await row.getByRole("button", { name: "Actions for main" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("Test login");
  await dialog().getByText("The relay accepts the connection and the login.").waitFor(waitOptions);
  await dialog().getByRole("button", { name: "Done" }).click();
  await choose("Edit…");
  await dialog().getByLabel("Password").fill("rejected", waitOptions);
  await takePictures(page, "installation-edit-relay");
  await dialog().getByRole("button", { name: "Save changes" }).click();
  await row.getByText("Failing").waitFor(waitOptions);
  await choose("Edit…");
  await dialog().getByLabel("Password").fill("pass-never-shown", waitOptions);
  await dialog().getByRole("button", { name: "Save changes" }).click();
  await row.getByText("Healthy").waitFor(waitOptions);
  await choose("Pause…");
  await dialog().getByLabel("Reason").fill("On a blocklist", waitOptions);
  await dialog().getByRole("button", { name: "Pause relay" }).click();
  await row.getByText("On a blocklist").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "installation-relays");
  await choose("Resume");
  await row.getByText("Healthy").waitFor(waitOptions);
  expect(await page.content()).not.toContain("pass-never-shown");
});

test("a team is paused with a reason that its email shows; a purge cancels it; a resume sends the next one", async () => {
  await open("/console/installation/queues");
  await page.getByRole("button", { name: "Pause sending" }).click();
  await dialog().getByLabel("Team", { exact: true }).fill("First team", waitOptions);
  await dialog().getByLabel("Reason").fill("Many complaints since this morning");
  await takePictures(page, "installation-pause");
  await dialog().getByRole("button", { name: "Pause sending" }).click();
  await page
    .getByRole("row")
    .filter({ hasText: "Team First team" })
    .getByText(ADMIN.email)
    .waitFor(waitOptions);
  const id = await backstamp.send({ to: "delivered@backstamp.test", subject: "Waits", html: "<p>Hello</p>" });
  await open(`/console/emails/${id}`);
  const recipient = page.getByRole("region", { name: /recipient/i });
  await recipient.getByText("Reason: Many complaints since this morning").waitFor(waitOptions);
  await page.getByRole("status").filter({ hasText: "Sending is paused for this team" }).waitFor(waitOptions);
  await takePictures(page, "installation-paused-email");

  await open("/console/installation/queues");
  await page.getByRole("row").filter({ hasText: "Team First team" }).first().waitFor(waitOptions);
  await takePictures(page, "installation-queues");
  await page.getByRole("button", { name: "Purge queue" }).click();
  await dialog().getByLabel("Team", { exact: true }).fill("First team", waitOptions);
  await dialog().getByLabel("Reason").fill("Sent to the wrong list");
  await dialog().getByRole("button", { name: "Continue" }).click();
  const confirm = dialog().getByRole("button", { name: "Cancel 1 delivery" });
  await confirm.waitFor(waitOptions);
  expect(await confirm.isDisabled()).toBe(true);
  await dialog()
    .getByLabel(/to confirm/)
    .fill("First team");
  await takePictures(page, "installation-purge");
  await confirm.click();
  await dialog().getByText("1 delivery canceled").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await dialog().getByRole("button", { name: "Done" }).click();
  expect((await backstamp.api("GET", `/emails/${id}`)).status).toBe("canceled");

  const next = await backstamp.send({
    to: "delivered@backstamp.test",
    subject: "Next",
    html: "<p>Hello</p>",
  });
  await page.getByRole("button", { name: "Resume Team First team" }).click();
  await dialog().getByRole("button", { name: "Resume sending" }).click();
  await page.getByRole("heading", { name: "Nothing is paused" }).waitFor(waitOptions);
  await expect
    .poll(async () => (await backstamp.api("GET", `/emails/${next}`)).status, waitOptions)
    .toBe("delivered");
});

test("for an owner who is not an operator, the pages and their navigation do not exist", async () => {
  const other = await openProfile(browser);
  const own = await other.context.newPage();
  await signIn(own, backstamp.url, PERSON.email, PERSON.password);
  await own.getByRole("navigation", { name: "Console" }).waitFor(waitOptions);
  expect(await own.getByRole("link", { name: "Installation" }).count()).toBe(0);
  for (const path of PATHS) {
    expect((await own.goto(`${backstamp.url}${path}`))?.status()).toBe(404);
    await own.getByRole("heading", { name: "Not found" }).waitFor(waitOptions);
    expect(await own.title()).toBe("Not found · Backstamp");
    expect(await own.content()).not.toMatch(/Readiness|Add relay|Pause sending|Destinations/);
  }
  await other.context.close();
});
