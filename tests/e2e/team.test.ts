import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, openProfile, takePictures, type Watched } from "./browser";

const GUEST = { email: "greta@example.net", name: "Greta Guest", password: "a good long password" };
const waitOptions = { timeout: 60_000 };

let link: string;

const { backstamp, browser, page: admin } = await openSignedIn({ SMTP_URL: "capture:" });
const theirs = await openProfile(browser);
const guest = await theirs.context.newPage();

const go = (page: Page, path: string) => page.goto(`${backstamp.url}${path}`);
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const act = async (page: Page, email: string, item: string) => {
  await page
    .getByRole("button", { name: new RegExp(`^Actions for (?:the invitation for )?${email}`) })
    .click();
  await page.getByRole("menuitem", { name: item }).click();
};
/** Calls a procedure from the page, whether or not the page offers it. Returns the status. */
const call = (page: Page, procedure: string, input: object): Promise<number> =>
  page.evaluate(
    async ([name, body]) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`/api/trpc/${name}`, init)).status;
    },
    [procedure, input] as const,
  );
const expectNoErrors = ({ dialogs, foreign, errors }: Watched, isOdd = (_: string) => true) => {
  expect(dialogs).toEqual([]);
  expect(foreign).toEqual([]);
  expect(errors.filter(({ text }) => isOdd(text))).toEqual([]);
};
const team = async (): Promise<string> => {
  const [{ id }] = JSON.parse(await backstamp.operate("team", "list", "--json")).data;
  return id;
};

test("an invitation link is shown once", async () => {
  await go(admin, "/console/settings/members");
  await expectNoAccessibilityViolations(admin);
  await admin.getByRole("button", { name: "Invite" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Email address").fill("not an address");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByText("Enter one email address").waitFor();
  await dialog.getByLabel("Email address").fill(GUEST.email);
  await dialog.getByText("Member", { exact: true }).click();
  await takePictures(admin, "members-invite");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await admin.getByText("This installation cannot send email").waitFor(waitOptions);
  link = (await admin.getByRole("dialog").locator("code").textContent()) ?? "";
  expect(link).toMatch(/\/invite#[\w-]{43}$/);
  await takePictures(admin, "members-link");
  await admin.getByRole("button", { name: "Done" }).click();
  await row(admin, GUEST.email).getByText("Member").waitFor(waitOptions);
  const confirmation = admin.getByRole("alertdialog");
  await act(admin, GUEST.email, "Create new link…");
  await confirmation.waitFor(waitOptions);
  await takePictures(admin, "members-new-link");
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  await confirmation.waitFor({ state: "detached", ...waitOptions });
  await act(admin, GUEST.email, "Withdraw…");
  await confirmation.waitFor(waitOptions);
  await takePictures(admin, "members-withdraw");
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  expect(await admin.content()).not.toContain(link.split("#")[1]);
});

test("an invited user chooses a name and a password, and joins the team", async () => {
  await guest.goto(link);
  await guest.getByRole("heading", { name: "Join First team" }).waitFor(waitOptions);
  expect(guest.url()).not.toContain("#");
  await takePictures(guest, "invitation");
  await guest.getByLabel("Your name").fill(GUEST.name);
  await guest.getByLabel("Password").fill("short");
  expect(
    await guest.getByLabel("Password").evaluate((field: HTMLInputElement) => field.validity.tooShort),
  ).toBe(true);
  await guest.getByLabel("Password").fill(GUEST.password);
  await guest.getByRole("button", { name: "Join team" }).click();
  await guest.waitForURL(/\/console/, waitOptions);
  await go(guest, "/console/settings/members");
  await row(guest, GUEST.name).getByText("you").waitFor(waitOptions);
  expectNoErrors(theirs);
});

test("a member cannot use actions without permission, and a forged request is rejected", async () => {
  const input = { team: await team(), email: "forged@example.net", role: "viewer" };
  const invite = guest.getByRole("button", { name: "Invite" });
  expect(await invite.isDisabled()).toBe(true);
  // A keyboard user can read the reason, and pressing the button has no effect.
  await invite.focus();
  const why = guest.getByText(/which cannot invite people/);
  await expect.poll(async () => (await why.boundingBox())?.height, waitOptions).toBeGreaterThan(20);
  await guest.keyboard.press("Enter");
  expect(await guest.getByRole("dialog").count()).toBe(0);
  await expectNoAccessibilityViolations(guest);
  expect(await guest.getByRole("button", { name: `Actions for ${ADMIN.email}` }).count()).toBe(0);
  expect(await call(guest, "invitations.create", input)).toBe(403);
  await go(guest, "/console/settings/team");
  expect(await guest.getByLabel("Team name").isDisabled()).toBe(true);
  expect(await call(guest, "team.change", { team: input.team, name: "Forged" })).toBe(403);
  await go(guest, "/console/activity");
  await guest.getByRole("heading", { name: "Permission required" }).waitFor(waitOptions);
  await expectNoAccessibilityViolations(guest);
});

test("an owner changes the team name and the email policies", async () => {
  await go(admin, "/console/settings/team");
  await admin.getByLabel("Team name").fill("Alder & Oak");
  await admin.getByRole("button", { name: "Save name" }).click();
  await admin.getByText("Team renamed").waitFor(waitOptions);
  await admin.getByText("Hold until resolved").click();
  await admin.getByRole("button", { name: "Save policy" }).click();
  await admin.getByText("Applies to future unknown outcomes").waitFor(waitOptions);
  await admin.getByLabel("Message content").selectOption("30");
  await admin.getByRole("button", { name: "Save retention…" }).click();
  await admin.getByText("this happens within minutes").waitFor(waitOptions);
  await takePictures(admin, "team-retention");
  await admin.getByRole("button", { name: "Delete old email" }).click();
  await admin.getByRole("alertdialog").waitFor({ state: "detached", ...waitOptions });
  await admin.reload();
  await expect.poll(() => admin.getByLabel("Message content").inputValue(), waitOptions).toBe("30");
  expect(await admin.getByLabel("Hold until resolved").isChecked()).toBe(true);
  await go(admin, "/console/settings/profile");
  await admin.getByLabel("Name", { exact: true }).fill("Ada Admin");
  await admin.getByRole("button", { name: "Save" }).click();
  await admin.getByText("Profile saved").waitFor(waitOptions);
});

test("a removed member loses access immediately", async () => {
  await go(admin, "/console/settings/members");
  await go(guest, "/console/settings/members");
  await act(admin, GUEST.email, "Remove from team…");
  await admin.getByText("API keys that they created belong to the team").waitFor(waitOptions);
  await takePictures(admin, "members-remove");
  await admin.getByRole("button", { name: "Remove from team" }).click();
  // An open dialog hides the rows from roles, so the row is gone only if the dialog is, too.
  await admin.getByRole("alertdialog").waitFor({ state: "detached", ...waitOptions });
  await row(admin, GUEST.name).waitFor({ state: "detached", ...waitOptions });
  await guest.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Emails" }).click();
  await guest.getByRole("heading", { name: "You are not a member of any team" }).waitFor(waitOptions);
  await takePictures(guest, "no-team");
  expect(await call(guest, "members.leave", { team: await team() })).toBe(404);
  // The browser logs the rejected requests as errors.
  expectNoErrors(theirs, (text) => !/status of (403|404)/.test(text));
});
