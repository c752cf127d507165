import "server-only";
import { cookies } from "next/headers";
import { SIGN_IN_PROVIDERS } from "#db/schema/account";
import { getPendingTwoFactor } from "#server/auth";
import { getConsoleDeps } from "#server/auth/deps";
import { relyingParty } from "#server/services/account/passkeys/challenge";
import { SIGN_IN_METHOD_NAMES } from "#server/services/account/sign-in/complete-sign-in";

/** Sign-in methods beside the password and the email link. */
export type OtherSignInMethods = { hasPasskeys: boolean; providers: { id: string; name: string }[] };

/**
 * The methods that are available: passkeys if the URL of this installation supports them, and the configured
 * providers.
 */
export function otherSignInMethods(): OtherSignInMethods {
  const { url, providers } = getConsoleDeps();
  return {
    hasPasskeys: relyingParty(url) !== null,
    providers: SIGN_IN_PROVIDERS.filter((id) => providers[id]).map((id) => ({
      id,
      name: (id === "oidc" && providers.oidc?.name) || SIGN_IN_METHOD_NAMES[id],
    })),
  };
}

/** The pending two-factor step of this browser, or null. */
export const pendingTwoFactorStep = async () => getPendingTwoFactor(getConsoleDeps(), await cookies());
