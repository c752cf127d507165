import { prove, type SignInResult } from "./auth-client";

/** What became of asking a person for their passkey: signing in goes on, or they turned it down. */
export type PasskeyResult = SignInResult | { fault: "turned_down"; said?: string };

/**
 * Asks the browser for a passkey and signs in by it: as a second step where one is owed, else by itself. The person may
 * turn it down, and a browser without any says the same.
 */
export async function signInByPasskey(landing: string): Promise<PasskeyResult> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  let response: string;
  try {
    const answer = await fetch("/api/auth/passkey/options", { method: "POST", body: "" });
    if (answer.status === 429) return { fault: "too_many_tries" };
    if (answer.status === 403) return { fault: "unavailable", said: (await answer.json()).error };
    if (!answer.ok) return { fault: "unavailable" };
    response = JSON.stringify(await startAuthentication({ optionsJSON: await answer.json() }));
  } catch (error) {
    const isTurnedDown = error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
    return { fault: isTurnedDown ? "turned_down" : "unavailable" };
  }
  return prove("passkey", { response }, landing);
}
