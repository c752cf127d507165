import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/servers/free-port";
import { startOpenIdProvider } from "../support/servers/openid-provider";
import { ADMIN, openSite } from "./backstamp";
import { expectNoAccessibilityViolations, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };
const issuerPort = await freePort();
/** The installation starts while its issuer is down. */
const { backstamp, profile, page } = await openSite({
  SMTP_URL: "capture:",
  AUTH_OIDC_ISSUER: `http://localhost:${issuerPort}`,
  AUTH_OIDC: "backstamp:the secret of an OpenID client",
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
  const issuer = await startOpenIdProvider({
    redirectUri: `${backstamp.url}/api/auth/callback/oidc`,
    port: issuerPort,
  });
  onTestFinished(() => issuer.close());
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
