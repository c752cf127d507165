import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../support/servers/free-port";
import { startOpenIdProvider } from "../support/servers/openid-provider";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import {
  expectNoAccessibilityViolations,
  openBrowser,
  openProfile,
  takePictures,
  type Watched,
} from "./browser";

const waitOptions = { timeout: 60_000 };
let issuerPort: number;
let issuer: Awaited<ReturnType<typeof startOpenIdProvider>> | undefined;
let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;

/** The installation starts while its issuer is down. */
beforeAll(async () => {
  issuerPort = await freePort();
  [browser, backstamp] = await Promise.all([
    openBrowser(),
    startBackstamp({
      SMTP_URL: "capture:",
      AUTH_OIDC_ISSUER: `http://localhost:${issuerPort}`,
      AUTH_OIDC: "backstamp:the secret of an OpenID client",
    }),
  ]);
  profile = await openProfile(browser);
  page = await profile.context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
  await issuer?.close();
});

const nameOfIssuer = () => `localhost:${issuerPort}`;
const button = () => page.getByRole("button", { name: `Continue with ${nameOfIssuer()}`, exact: true });

test("the sign-in page has a button for the issuer, and reports that it is down", async () => {
  await page.goto(`${backstamp.url}/login?callbackUrl=%2Fconsole%2Femails`);
  await button().waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "login-provider");
  await button().click();
  await page.getByText("The sign-in provider cannot be reached.").waitFor(waitOptions);
});

test("a person signs in at the issuer and opens the requested page", async () => {
  issuer = await startOpenIdProvider({
    redirectUri: `${backstamp.url}/api/auth/callback/oidc`,
    port: issuerPort,
  });
  issuer.setAccount("ann", { email: ADMIN.email, email_verified: true });
  await button().click();
  await page.locator("input[name=login]").fill("ann", waitOptions);
  await page.locator("input[name=password]").fill("anything");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue", exact: true }).click(waitOptions);
  await page.waitForURL(/\/console\/emails/, waitOptions);
  await page.goto(`${backstamp.url}/console/settings/security`);
  const linked = page.getByRole("region", { name: "External accounts", exact: true });
  await linked.getByText(nameOfIssuer()).waitFor(waitOptions);
  await linked.getByText(ADMIN.email).waitFor(waitOptions);
  await linked.getByRole("button", { name: "Unlink" }).click();
  const unlinking = page.getByRole("alertdialog", { name: `Unlink ${nameOfIssuer()}?` });
  await unlinking.waitFor(waitOptions);
  await takePictures(page, "security-unlink");
  await unlinking.getByRole("button", { name: "Cancel" }).click();
  // The sign-in page of the issuer itself requests a font.
  const foreign = profile.foreign.filter((url) => !url.startsWith("https://fonts.googleapis.com/"));
  expect([...profile.dialogs, ...foreign]).toEqual([]);
});

test("an unverified address does not sign in, and the page states what is needed", async () => {
  issuer?.setAccount("eve", { email: ADMIN.email, email_verified: false });
  await profile.context.clearCookies();
  await page.goto(`${backstamp.url}/login`);
  await button().click();
  await page.locator("input[name=login]").fill("eve", waitOptions);
  await page.locator("input[name=password]").fill("anything");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue", exact: true }).click(waitOptions);
  await page.getByText("No user here has the verified email address of that account.").waitFor(waitOptions);
  await page.goto(`${backstamp.url}/console`);
  await page.waitForURL(/\/login/, waitOptions);
});
