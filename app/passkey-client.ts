import { type SignInFault, submitProof } from "./auth-client";

export type PasskeyFault = SignInFault | "dismissed";

/** The result of a passkey sign-in: as for any proof, or the user dismissed the prompt. */
export type PasskeyResult = { to: string } | { fault: PasskeyFault; message?: string };

/**
 * Prompts for a passkey and signs in with it: as the second factor if one is required, otherwise as the only proof.
 * `dismissed` means that the user dismissed the prompt or has no passkey; browsers do not distinguish the two.
 */
export async function signInByPasskey(landing: string): Promise<PasskeyResult> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  let response: string;
  try {
    const optionsResponse = await fetch("/api/auth/passkey/options", { method: "POST", body: "" });
    if (optionsResponse.status === 429) return { fault: "too_many_attempts" };
    if (optionsResponse.status === 403)
      return { fault: "unavailable", message: (await optionsResponse.json()).error };
    if (!optionsResponse.ok) return { fault: "unavailable" };
    response = JSON.stringify(await startAuthentication({ optionsJSON: await optionsResponse.json() }));
  } catch (error) {
    const isDismissed = error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
    return { fault: isDismissed ? "dismissed" : "unavailable" };
  }
  return submitProof("passkey", { response }, landing);
}
