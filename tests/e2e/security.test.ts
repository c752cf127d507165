import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionCookieName } from "#server/auth/cookies";
import { codeOf } from "../support/authenticator-app";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
const profiles: Watched[] = [];
const patience = { timeout: 60_000 };

const open = async () => {
  const opened = await openProfile(browser);
  profiles.push(opened);
  return opened.context.newPage();
};

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  page = await open();
  [profile] = profiles as [Watched];
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const expectNothingOdd = () => {
  for (const { dialogs, foreign, errors } of profiles) {
    expect(dialogs).toEqual([]);
    expect(foreign).toEqual([]);
    expect(errors).toEqual([]);
  }
};
/** What is refused is a 401, which browsers note by themselves. */
const forgiveRefusals = () => {
  for (const each of profiles)
    each.errors = each.errors.filter(({ at }) => !/\/api\/(auth\/callback|trpc)\//.test(at));
};
const security = () => page.goto(`${posthorn.url}/console/settings/security`);
const section = (name: string) => page.getByRole("region", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const press = (name: string, at: Page = page) => at.getByRole("button", { name, exact: true }).click();

/** The browser stays one in which its owner signed in: its tries are counted by themselves, and no minute is too full. */
const endSession = () => profile.context.clearCookies({ name: sessionCookieName(posthorn.url) });

async function giveFirstProof(at: Page): Promise<void> {
  await at.goto(`${posthorn.url}/login`);
  await at.getByLabel("Email address").fill(ADMIN.email);
  await at.getByLabel("Password").fill(ADMIN.password);
  await press("Sign in", at);
  await at.waitForURL(/\/login\/second/, patience);
}

let secret = "";
let recoveryCode = "";

describe("an authenticator app", () => {
  test("is set up by its key or the QR code, a code of it, and recovery codes that are shown once", async () => {
    await security();
    await section("Second step").getByText("Off", { exact: true }).waitFor(patience);
    await expectNoBarriers(page);
    await takePictures(page, "security");
    await section("Second step").getByRole("button", { name: "Set up" }).click();
    await dialog().getByLabel("Your password").fill("not the password");
    await press("Go on");
    await dialog().getByText("That is not your password.").waitFor(patience);
    await dialog().getByLabel("Your password").fill(ADMIN.password);
    await press("Go on");
    await dialog().getByRole("img", { name: "The key as a QR code" }).waitFor(patience);
    await expectNoBarriers(page);
    await takePictures(page, "security-app");
    secret = ((await dialog().locator("code").textContent()) ?? "").replaceAll(/\s/g, "");
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    await dialog().getByLabel("Code", { exact: true }).fill(codeOf(secret, new Date()));
    await press("Turn it on");
    const codes = dialog().getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect.poll(() => codes.count(), patience).toBe(10);
    recoveryCode = (await codes.first().textContent()) ?? "";
    await expectNoBarriers(page);
    await takePictures(page, "security-codes");
    await press("I have stored them");
    await section("Second step").getByText("On", { exact: true }).waitFor(patience);
    await section("Second step").getByText("10 are left").waitFor();
    forgiveRefusals();
    expectNothingOdd();
  });

  test("is asked for after the password, and a wrong code is told", async () => {
    const other = await open();
    await giveFirstProof(other);
    await expectNoBarriers(other);
    await takePictures(other, "second-step");
    await other.goto(`${posthorn.url}/console/emails`);
    await other.waitForURL(/\/login\?/);
    await giveFirstProof(other);
    await other.getByLabel("Code", { exact: true }).fill("000000");
    await press("Sign in", other);
    await other.getByText("This code is not right, or was used already.").waitFor(patience);
    // The next step's code: this one's was used to set the app up.
    await other.getByLabel("Code", { exact: true }).fill(codeOf(secret, new Date(), 1));
    await press("Sign in", other);
    await other.waitForURL(/\/console(?:[/?]|$)/, patience);
    forgiveRefusals();
    expectNothingOdd();
  });

  test("is replaced by a recovery code where it is lost, and the account's owner is told", async () => {
    const other = await open();
    await giveFirstProof(other);
    await press("Use a recovery code", other);
    await other.getByLabel("Recovery code").fill(recoveryCode.toLowerCase());
    await press("Sign in", other);
    await other.waitForURL(/\/console(?:[/?]|$)/, patience);
    await security();
    await section("Second step").getByText("9 are left").waitFor(patience);
    await section("Recent security events").getByText("Used a recovery code").waitFor();
    expectNothingOdd();
  });
});

test("ending another browser's session is felt at its next click", async () => {
  const other = profiles.at(-1)?.context.pages()[0];
  if (!other) throw new Error("there is no other browser");
  await other.goto(`${posthorn.url}/console/emails`);
  await security();
  const sessions = section("Sessions").getByRole("listitem");
  await expect.poll(() => sessions.count(), patience).toBe(3);
  await section("Sessions").getByText("This one").waitFor();
  await press("End all others");
  await page.getByRole("alertdialog").getByText("2 other browsers have to sign in again.").waitFor(patience);
  await press("End them");
  await expect.poll(() => sessions.count(), patience).toBe(1);
  await other.getByRole("link", { name: "Settings" }).first().click();
  await other.waitForURL(/\/login/, patience);
  forgiveRefusals();
  expectNothingOdd();
});

describe("a passkey", () => {
  test("is made by the browser, signs in by itself, and is the second step after a password", async () => {
    const devtools = await profile.context.newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await security();
    await press("Add a passkey");
    await dialog().getByLabel("Name").fill("Blue key");
    await dialog().getByLabel("Your password, or a code").fill(ADMIN.password);
    await dialog().getByRole("button", { name: "Add a passkey" }).click();
    await section("Passkeys").getByText("Blue key").waitFor(patience);
    await expectNoBarriers(page);
    await takePictures(page, "security-on");

    await endSession();
    await page.goto(`${posthorn.url}/login`);
    await press("Sign in with a passkey");
    await page.waitForURL(/\/console(?:[/?]|$)/, patience);

    await endSession();
    await giveFirstProof(page);
    await press("Use a passkey");
    await page.waitForURL(/\/console(?:[/?]|$)/, patience);
    // The page that was open when its session was taken away asked once more.
    forgiveRefusals();
    expectNothingOdd();
  });

  test("is renamed and removed, and opens nothing after that", async () => {
    await security();
    const actions = () => section("Passkeys").getByRole("button", { name: /^Actions for/ });
    await actions().click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await dialog().getByLabel("Name").fill("Red key");
    await dialog().getByRole("button", { name: "Rename" }).click();
    await section("Passkeys").getByText("Red key").waitFor(patience);
    await actions().click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await dialog().getByLabel("Your password, or a code").fill(ADMIN.password);
    await press("Remove it");
    await section("Passkeys").getByText("You have none yet.").waitFor(patience);
    await endSession();
    await page.goto(`${posthorn.url}/login`);
    await press("Sign in with a passkey");
    await page.getByText("This passkey opens nothing here.").waitFor(patience);
    forgiveRefusals();
    expectNothingOdd();
  });
});

test("the operator takes the second step off, and the password is changed for the present one", async () => {
  await posthorn.operate("user", "reset-second-step", ADMIN.email);
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
  await security();
  await section("Second step").getByText("Off", { exact: true }).waitFor(patience);
  await section("Password").getByRole("button", { name: "Change" }).click();
  await dialog().getByLabel("Present password").fill(ADMIN.password);
  await dialog().getByLabel("New password", { exact: true }).fill("nine brown hens");
  await dialog().getByLabel("New password again").fill("nine brown cats");
  await press("Change the password");
  await dialog().getByText("The two are not the same.").waitFor();
  await expectNoBarriers(page);
  await dialog().getByLabel("New password again").fill("nine brown hens");
  await press("Change the password");
  await dialog().waitFor({ ...patience, state: "detached" });
  await endSession();
  await signIn(page, posthorn.url, ADMIN.email, "nine brown hens");
  expectNothingOdd();
});
