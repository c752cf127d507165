import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const GUEST = { email: "greta@example.net", name: "Greta Guest", password: "a good long password" };
const patience = { timeout: 60_000 };

let posthorn: Posthorn;
let browser: Browser;
let ours: Watched;
let theirs: Watched;
let admin: Page;
let guest: Page;
let link: string;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  ours = await openProfile(browser);
  theirs = await openProfile(browser);
  admin = await ours.context.newPage();
  guest = await theirs.context.newPage();
  await signIn(admin, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const go = (page: Page, path: string) => page.goto(`${posthorn.url}${path}`);
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const act = async (page: Page, email: string, item: string) => {
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
};
/** What the page's own script could ask for, whatever the page offers. */
const call = (page: Page, procedure: string, input: object): Promise<number> =>
  page.evaluate(
    async ([name, body]) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`/api/trpc/${name}`, init)).status;
    },
    [procedure, input] as const,
  );
const expectNothingOdd = ({ dialogs, foreign, errors }: Watched, isOdd = (_: string) => true) => {
  expect(dialogs).toEqual([]);
  expect(foreign).toEqual([]);
  expect(errors.filter(({ text }) => isOdd(text))).toEqual([]);
};
const team = async (): Promise<string> => {
  const [{ id }] = JSON.parse(await posthorn.operate("team", "list", "--json")).data;
  return id;
};

test("somebody is invited by a link that is shown once", async () => {
  await go(admin, "/console/settings/members");
  await expectNoBarriers(admin);
  await admin.getByRole("button", { name: "Invite" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Email address").fill("not an address");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByText("Give one email address.").waitFor();
  await dialog.getByLabel("Email address").fill(GUEST.email);
  await dialog.getByText("Member", { exact: true }).click();
  await takePictures(admin, "members-invite");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await admin.getByText("This installation sends no mail of its own").waitFor(patience);
  link = (await admin.getByRole("dialog").locator("code").textContent()) ?? "";
  expect(link).toMatch(/\/invite#[\w-]{43}$/);
  await takePictures(admin, "members-link");
  await admin.getByRole("button", { name: "Done" }).click();
  await row(admin, GUEST.email).getByText("Member").waitFor(patience);
  expect(await admin.content()).not.toContain(link.split("#")[1]);
});

test("whoever holds it chooses a name and a password, and is in the team", async () => {
  await guest.goto(link);
  await guest.getByRole("heading", { name: "Join First team" }).waitFor(patience);
  expect(guest.url()).not.toContain("#");
  await takePictures(guest, "invitation");
  await guest.getByLabel("Your name").fill(GUEST.name);
  await guest.getByLabel("Password").fill("short");
  expect(
    await guest.getByLabel("Password").evaluate((field: HTMLInputElement) => field.validity.tooShort),
  ).toBe(true);
  await guest.getByLabel("Password").fill(GUEST.password);
  await guest.getByRole("button", { name: "Join the team" }).click();
  await guest.waitForURL(/\/console/, patience);
  await go(guest, "/console/settings/members");
  await row(guest, GUEST.name).getByText("you").waitFor(patience);
  expectNothingOdd(theirs);
});

test("the link opens nothing after that, and says why", async () => {
  const third = await openProfile(browser);
  const page = await third.context.newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "This invitation was accepted already" }).waitFor(patience);
  await go(page, "/invite#nothing");
  await page.getByRole("heading", { name: "This link opens no invitation" }).waitFor(patience);
  expectNothingOdd(third);
  await third.context.close();
});

test("a member is offered nothing that they may not do, and a forged call is refused", async () => {
  const input = { team: await team(), email: "forged@example.net", role: "viewer" };
  const invite = guest.getByRole("button", { name: "Invite" });
  expect(await invite.isDisabled()).toBe(true);
  // Whoever comes by the keyboard is told why, and pressing does nothing.
  await invite.focus();
  const why = guest.getByText(/which may not invite people/);
  await expect.poll(async () => (await why.boundingBox())?.height, patience).toBeGreaterThan(20);
  await guest.keyboard.press("Enter");
  expect(await guest.getByRole("dialog").count()).toBe(0);
  await expectNoBarriers(guest);
  expect(await guest.getByRole("button", { name: `Actions for ${ADMIN.email}` }).count()).toBe(0);
  expect(await call(guest, "invitations.create", input)).toBe(403);
  await go(guest, "/console/settings/team");
  expect(await guest.getByLabel("Team name").isDisabled()).toBe(true);
  expect(await call(guest, "team.change", { team: input.team, name: "Forged" })).toBe(403);
  await go(guest, "/console/activity");
  await guest.getByRole("heading", { name: "Not for your role" }).waitFor(patience);
  await expectNoBarriers(guest);
});

test("a role that is changed here is felt there at the next click", async () => {
  const input = { team: await team(), email: "by-an-admin@example.net", role: "viewer" };
  await go(admin, "/console/settings/members");
  await act(admin, GUEST.email, "Change the role…");
  await admin.getByRole("dialog").getByText("Admin", { exact: true }).click();
  await admin.getByRole("button", { name: "Change the role" }).click();
  await row(admin, GUEST.name).getByText("Admin").waitFor(patience);
  expect(await call(guest, "invitations.create", input)).toBe(200);
  expect(await call(guest, "invitations.create", { ...input, email: "x@example.net", role: "owner" })).toBe(
    403,
  );
  await go(guest, "/console/activity");
  await guest.getByRole("table", { name: "Changes" }).waitFor(patience);
});

test("the last owner stays, and is told what would help", async () => {
  await act(admin, ADMIN.email, "Leave the team…");
  await admin.getByRole("button", { name: "Leave the team" }).click();
  await admin.getByText(/is the team's last owner\. Make somebody else an owner first\./).waitFor(patience);
  await admin.getByRole("button", { name: "Cancel" }).click();
});

test("the team is named and its mail's rules are settled by whoever may", async () => {
  await go(admin, "/console/settings/team");
  await admin.getByLabel("Team name").fill("Alder & Oak");
  await admin.getByRole("button", { name: "Save the name" }).click();
  await admin.getByText("Team renamed").waitFor(patience);
  await admin.getByText("Hold it until somebody decides").click();
  await admin.getByRole("button", { name: "Save the choice" }).click();
  await admin.getByText("It holds for what becomes unknown from now on").waitFor(patience);
  await admin.getByLabel("What mails say").selectOption("90");
  await admin.getByRole("button", { name: "Save how long…" }).click();
  await admin.getByText("are erased, within minutes").waitFor(patience);
  await takePictures(admin, "team-retention");
  await admin.getByRole("button", { name: "Take old mail away" }).click();
  await admin.getByRole("alertdialog").waitFor({ state: "detached", ...patience });
  await admin.reload();
  expect(await admin.getByLabel("What mails say").inputValue()).toBe("90");
  expect(await admin.getByLabel("Hold it until somebody decides").isChecked()).toBe(true);
  await go(admin, "/console/settings/profile");
  await admin.getByLabel("Name", { exact: true }).fill("Ada Admin");
  await admin.getByRole("button", { name: "Save" }).click();
  await admin.getByText("Profile saved").waitFor(patience);
});

test("whoever is removed finds no team at their next click", async () => {
  await go(admin, "/console/settings/members");
  await go(guest, "/console/settings/members");
  await act(admin, GUEST.email, "Remove from the team…");
  await admin.getByText("API keys that they made belong to the team").waitFor(patience);
  await takePictures(admin, "members-remove");
  await admin.getByRole("button", { name: "Remove from the team" }).click();
  await row(admin, GUEST.name).waitFor({ state: "detached", ...patience });
  await guest.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Emails" }).click();
  await guest.getByRole("heading", { name: "You are in no team" }).waitFor(patience);
  await takePictures(guest, "no-team");
  expect(await call(guest, "members.leave", { team: await team() })).toBe(404);
  // What was refused stands on the browser's console, as what was refused.
  expectNothingOdd(theirs, (text) => !/status of (403|404)/.test(text));
});

test("everything stands in the log, row by row and as a file", async () => {
  await posthorn.send({ to: "delivered@posthorn.test", subject: "Logged", html: "<p>x</p>" });
  await go(admin, "/console/activity");
  const table = admin.getByRole("table", { name: "Changes" });
  for (const words of ["Removed a member", "Changed a role", "Joined the team", "Changed the team"])
    await table.getByText(words).first().waitFor(patience);
  await admin.getByLabel("What").selectOption("member");
  await admin.waitForURL(/action=member/);
  await expect.poll(() => table.getByText("Changed the team").count(), patience).toBe(0);
  await table.getByRole("button", { name: "Changed a role" }).click();
  await admin.getByRole("dialog").getByText("member.role_changed").waitFor(patience);
  await admin
    .getByRole("dialog")
    .getByText("(before: member)")
    .or(admin.getByText("Before"))
    .first()
    .waitFor(patience);
  await takePictures(admin, "activity-change");
  await admin.keyboard.press("Escape");
  const [download] = await Promise.all([
    admin.waitForEvent("download"),
    admin.getByRole("link", { name: "Export CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines[0]).toBe(
    "time,actor,actor_id,actor_name,action,words,subject_id,subject_name,detail,request_id",
  );
  expect(lines.some((line) => line.includes("member.removed"))).toBe(true);
  expect(lines.slice(1).every((line) => line.includes(",member."))).toBe(true);
  await go(admin, "/console/activity/requests");
  const requests = admin.getByRole("table", { name: "API requests" });
  await requests.getByText("/api/emails").first().waitFor(patience);
  await requests
    .getByRole("button", { name: /POST \/api\/emails/ })
    .first()
    .click();
  await admin.getByRole("dialog").getByText("What was asked").first().waitFor(patience);
  await expectNoBarriers(admin);
  await takePictures(admin, "request");
  expect(await admin.getByRole("dialog").textContent()).not.toContain("<p>x</p>");
  await admin.keyboard.press("Escape");
  expectNothingOdd(ours, (text) => !/status of 409/.test(text));
});

test("another team is made, and owned by whoever made it", async () => {
  await go(admin, "/console/settings/team");
  await admin.getByRole("button", { name: "Create team" }).click();
  await admin.getByRole("dialog").getByLabel("Team name").fill("Second house");
  await admin.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  await admin.waitForURL(/team=/, patience);
  await admin.getByText("Second house").first().waitFor(patience);
  const second = new URL(admin.url()).searchParams.get("team");
  await go(admin, `/console/settings/members?team=${second}`);
  await row(admin, "Ada Admin").getByText("Owner").waitFor(patience);
});
