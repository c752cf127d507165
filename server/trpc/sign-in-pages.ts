import "server-only";
import { cookies } from "next/headers";
import { readStep } from "#server/auth";
import { heldDeps } from "#server/console-deps";
import { WAYS } from "#server/services/account/let-in";
import { relyingParty } from "#server/services/account/passkey-challenge";

/** The ways of signing in beside the password and the mailed link, as far as they are there. */
export type OtherWays = { hasPasskeys: boolean; providers: { id: string; name: string }[] };

/** Those that the page may offer: passkeys where browsers make them for our address, and the providers that are set up. */
export function otherWays(): OtherWays {
  const { url, providers } = heldDeps();
  return {
    hasPasskeys: relyingParty(url) !== null,
    providers: (["github", "google"] as const)
      .filter((id) => providers[id])
      .map((id) => ({ id, name: WAYS[id] })),
  };
}

/** The second step that whoever looks at the page still owes, or null. */
export const pageStep = async () => readStep(heldDeps(), await cookies());
