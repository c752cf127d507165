import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { sessionCookieName } from "#server/auth/cookies";
import { codeOf } from "../support/console/authenticator-app";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, openProfile, signIn, takePictures } from "./browser";

const { backstamp, browser, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
const profiles = [profile];
const waitOptions = { timeout: 60_000 };

const open = async () => {
  const opened = await openProfile(browser);
  profiles.push(opened);
  return opened.context.newPage();
};

const expectNoErrors = () => {
  for (const { dialogs, foreign, errors } of profiles) {
    expect(dialogs).toEqual([]);
    expect(foreign).toEqual([]);
    expect(errors).toEqual([]);
  }
};
/** The browser logs each rejected request (401) as an error. */
const ignoreRejections = () => {
  for (const each of profiles)
    each.errors = each.errors.filter(({ at }) => !/\/api\/(auth\/callback|trpc)\//.test(at));
};
const security = () => page.goto(`${backstamp.url}/console/settings/security`);
const TWO_FACTOR = "Two-factor authentication (2FA)";
const section = (name: string) => page.getByRole("region", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const press = (name: string, at: Page = page) => at.getByRole("button", { name, exact: true }).click();

/**
 * Keeps the other cookies: attempts of a known browser are counted separately, so the rate limit is not
 * reached.
 */
const endSession = () => profile.context.clearCookies({ name: sessionCookieName(backstamp.url) });

async function signInWithPassword(at: Page): Promise<void> {
  await at.goto(`${backstamp.url}/login`);
  await at.getByLabel("Email address").fill(ADMIN.email);
  await at.getByLabel("Password").fill(ADMIN.password);
  await press("Sign in", at);
  await at.waitForURL(/\/login\/two-factor/, waitOptions);
}

let secret = "";
let recoveryCode = "";

describe("an authenticator app", () => {
  test("is set up with a QR code or key and a code, and shows recovery codes once", async () => {
    await security();
    await section(TWO_FACTOR).getByText("Off", { exact: true }).waitFor(waitOptions);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "security");
    await section(TWO_FACTOR).getByRole("button", { name: "Set up" }).click();
    await dialog().getByLabel("Password", { exact: true }).fill("not the password");
    await press("Continue");
    await dialog().getByText("Incorrect password.").waitFor(waitOptions);
    await dialog().getByLabel("Password", { exact: true }).fill(ADMIN.password);
    await press("Continue");
    await dialog().getByRole("img", { name: "QR code of the key" }).waitFor(waitOptions);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "security-app");
    secret = ((await dialog().locator("code").textContent()) ?? "").replaceAll(/\s/g, "");
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    await dialog().getByLabel("Code", { exact: true }).fill(codeOf(secret, new Date()));
    await press("Turn on");
    const codes = dialog().getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect.poll(() => codes.count(), waitOptions).toBe(10);
    recoveryCode = (await codes.first().textContent()) ?? "";
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "security-codes");
    await press("I saved my codes");
    await section(TWO_FACTOR).getByText("On", { exact: true }).waitFor(waitOptions);
    await section(TWO_FACTOR).getByText("10 codes left").waitFor();
    ignoreRejections();
    expectNoErrors();
  });

  test("is required after the password, and an incorrect code is rejected", async () => {
    const other = await open();
    await signInWithPassword(other);
    await expectNoAccessibilityViolations(other);
    await takePictures(other, "second-step");
    await other.goto(`${backstamp.url}/console/emails`);
    await other.waitForURL(/\/login\?/);
    await signInWithPassword(other);
    await other.getByLabel("Code", { exact: true }).fill("000000");
    await press("Sign in", other);
    await other.getByText("This code is incorrect or was already used.").waitFor(waitOptions);
    // The code of the next time step: the current one was used for the setup.
    await other.getByLabel("Code", { exact: true }).fill(codeOf(secret, new Date(), 1));
    await press("Sign in", other);
    await other.waitForURL(/\/console(?:[/?]|$)/, waitOptions);
    ignoreRejections();
    expectNoErrors();
  });

  test("can be replaced by a recovery code, which is recorded as a security event", async () => {
    const other = await open();
    await signInWithPassword(other);
    await press("Use a recovery code", other);
    await other.getByLabel("Recovery code").fill(recoveryCode.toLowerCase());
    await press("Sign in", other);
    await other.waitForURL(/\/console(?:[/?]|$)/, waitOptions);
    await security();
    await section(TWO_FACTOR).getByText("9 codes left").waitFor(waitOptions);
    await section("Recent security events").getByText("Used a recovery code").waitFor();
    await press("Create new codes");
    await dialog().getByLabel("Password or code").waitFor(waitOptions);
    await takePictures(page, "security-renew-codes");
    await press("Cancel");
    await section(TWO_FACTOR).getByRole("button", { name: "Remove", exact: true }).click();
    await dialog().getByLabel("Password or code").waitFor(waitOptions);
    await takePictures(page, "security-remove-app");
    await press("Cancel");
    expectNoErrors();
  });
});

test("ending the session of another browser takes effect immediately", async () => {
  const other = profiles.at(-1)?.context.pages()[0];
  if (!other) throw new Error("there is no other browser");
  await other.goto(`${backstamp.url}/console/emails`);
  await security();
  const sessions = section("Sessions").getByRole("listitem");
  await expect.poll(() => sessions.count(), waitOptions).toBe(3);
  await section("Sessions").getByText("Current", { exact: true }).waitFor();
  await press("End all others");
  await page
    .getByRole("alertdialog")
    .getByText("2 other browsers have to sign in again.")
    .waitFor(waitOptions);
  await takePictures(page, "security-end-sessions");
  await press("End sessions");
  await expect.poll(() => sessions.count(), waitOptions).toBe(1);
  const ended = other.getByRole("alertdialog", { name: "Your session has expired" });
  await ended.getByRole("button", { name: "Leave page" }).click(waitOptions);
  await other.waitForURL(/\/login/, waitOptions);
  ignoreRejections();
  expectNoErrors();
});

let devtools: CDPSession;

/** From the next page on: whether each offer of the autofill list was aborted. */
async function watchOffers(visitor: Page): Promise<() => Promise<boolean[]>> {
  await visitor.addInitScript(() => {
    const signals: AbortSignal[] = [];
    Object.assign(window, { signals });
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = (options) => {
      if (options?.mediation === "conditional" && options.signal) signals.push(options.signal);
      return get(options);
    };
  });
  return () =>
    visitor.evaluate(() => (window as unknown as { signals: AbortSignal[] }).signals.map((s) => s.aborted));
}

describe("a passkey", () => {
  /**
   * Whether the virtual authenticator confirms requests. Without it, a request stays open like one for an
   * absent user.
   */
  let confirm: (isOn: boolean) => Promise<void>;

  test("is created in the browser, signs in without a password, and serves as 2FA after a password", async () => {
    devtools = await profile.context.newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    confirm = async (enabled) => {
      await devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
    };
    await security();
    await press("Add passkey");
    await dialog().getByLabel("Name").fill("Blue key");
    await dialog().getByLabel("Password or code").fill(ADMIN.password);
    await dialog().getByRole("button", { name: "Add passkey" }).click();
    await section("Passkeys").getByText("Blue key").waitFor(waitOptions);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "security-on");

    await endSession();
    await confirm(false);
    const offers = await watchOffers(page);
    await page.goto(`${backstamp.url}/login`);
    // The authenticator would accept an offer that is made after this.
    await expect.poll(offers, waitOptions).toEqual([false]);
    await confirm(true);
    await press("Sign in with a passkey");
    await page.waitForURL(/\/console(?:[/?]|$)/, waitOptions);

    await endSession();
    await confirm(false);
    await signInWithPassword(page);
    await confirm(true);
    await press("Use a passkey");
    await page.waitForURL(/\/console(?:[/?]|$)/, waitOptions);
    // The open page sent one more request after its session cookie was removed.
    ignoreRejections();
    expectNoErrors();
  });

  test("is no longer offered in the autofill list once another method is used", async () => {
    await endSession();
    await confirm(false);
    const visitor = await profile.context.newPage();
    const offers = await watchOffers(visitor);
    await visitor.goto(`${backstamp.url}/login`);
    expect(await visitor.getByLabel("Email address").getAttribute("autocomplete")).toBe("username webauthn");
    await expect.poll(offers, waitOptions).toEqual([false]);
    await visitor.getByLabel("Email address").fill(ADMIN.email);
    await visitor.getByLabel("Password").fill("not the password");
    await press("Sign in", visitor);
    await visitor.getByText("Incorrect email or password.").waitFor(waitOptions);
    // Aborted during the attempt, and offered again after it.
    await expect.poll(offers, waitOptions).toEqual([true, false]);
    await visitor.close();
    ignoreRejections();
    expectNoErrors();
  });

  test("is not requested by a browser without autofill, and a slow response delays no other method", async () => {
    const visitor = await open();
    const requested: string[] = [];
    visitor.on("request", (request) => void requested.push(new URL(request.url()).pathname));
    await visitor.addInitScript(() => {
      Object.assign(PublicKeyCredential, { isConditionalMediationAvailable: undefined });
    });
    await visitor.goto(`${backstamp.url}/login`, { waitUntil: "networkidle" });
    // The page shows that it waits before it sends the request.
    const sent = visitor.waitForRequest("**/api/auth/passkey/options", waitOptions);
    await press("Sign in with a passkey", visitor);
    await sent;
    expect(requested).not.toContain("/api/auth/passkey/autofill");
    await visitor.close();

    const slow = await open();
    await slow.route("**/api/auth/passkey/autofill", () => {});
    await signInWithPassword(slow);
    await slow.close();
    ignoreRejections();
    expectNoErrors();
  });

  test("signs in from the autofill list of the email field, without another click", async () => {
    await endSession();
    await confirm(true);
    await page.goto(`${backstamp.url}/login?callbackUrl=%2Fconsole%2Femails`);
    await page.waitForURL(/\/console\/emails/, waitOptions);
    ignoreRejections();
    expectNoErrors();
  });

  test("is renamed and removed, and is rejected after that", async () => {
    await security();
    const actions = () => section("Passkeys").getByRole("button", { name: /^Actions for/ });
    await actions().click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await dialog().getByLabel("Name").fill("Red key");
    await takePictures(page, "passkey-rename");
    await dialog().getByRole("button", { name: "Rename" }).click();
    await section("Passkeys").getByText("Red key").waitFor(waitOptions);
    await actions().click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await dialog().getByLabel("Password or code").fill(ADMIN.password);
    await takePictures(page, "passkey-remove");
    await dialog().getByRole("button", { name: "Remove", exact: true }).click();
    await section("Passkeys").getByText("No passkeys yet.").waitFor(waitOptions);
    await endSession();
    await confirm(true);
    await page.goto(`${backstamp.url}/login`);
    // The virtual authenticator confirms the offer in the autofill list.
    await page.getByText("This passkey does not belong to an account here.").waitFor(waitOptions);
    ignoreRejections();
    expectNoErrors();
  });
});

test("after the operator resets 2FA, the user changes the password", async () => {
  await backstamp.operate("user", "reset-2fa", ADMIN.email);
  await devtools.send("WebAuthn.disable");
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
  await security();
  await section(TWO_FACTOR).getByText("Off", { exact: true }).waitFor(waitOptions);
  await section("Password").getByRole("button", { name: "Change" }).click();
  await dialog().getByLabel("Current password").fill(ADMIN.password);
  await dialog().getByLabel("New password", { exact: true }).fill("nine brown hens");
  await dialog().getByLabel("Confirm new password").fill("nine brown cats");
  await press("Change password");
  await dialog().getByText("The passwords do not match.").waitFor();
  await expectNoAccessibilityViolations(page);
  await dialog().getByLabel("Confirm new password").fill("nine brown hens");
  await press("Change password");
  await dialog().waitFor({ ...waitOptions, state: "detached" });
  await endSession();
  await signIn(page, backstamp.url, ADMIN.email, "nine brown hens");
  // The page in the first profile polls until the reset ends its session.
  ignoreRejections();
  expectNoErrors();
});
