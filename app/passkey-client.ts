import { type SignInFault, submitProof } from "./auth-client";

export type PasskeyFault = SignInFault | "dismissed";

/** The result of a passkey sign-in: as for any proof, or the user dismissed the prompt. */
export type PasskeyResult = { to: string } | { fault: PasskeyFault; message?: string };

const requestOptions = (kind: "options" | "autofill") =>
  fetch(`/api/auth/passkey/${kind}`, { method: "POST", body: "" });

/**
 * Prompts for a passkey and signs in with it: for 2FA if it is required, otherwise as the only
 * proof. `dismissed` means that the user dismissed the prompt or has no passkey; browsers do not distinguish
 * the two.
 */
export async function signInByPasskey(landing: string): Promise<PasskeyResult> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  let response: string;
  try {
    const optionsResponse = await requestOptions("options");
    if (optionsResponse.status === 429) return { fault: "too_many_attempts" };
    if (optionsResponse.status === 403)
      return { fault: "unavailable", message: (await optionsResponse.json()).error };
    if (!optionsResponse.ok) return { fault: "unavailable" };
    response = JSON.stringify(await startAuthentication({ optionsJSON: await optionsResponse.json() }));
  } catch (error) {
    const isDismissed = error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
    return { fault: isDismissed ? "dismissed" : "unavailable" };
  }
  return submitPasskey(response, landing);
}

/** Signs in with the browser's response. */
export const submitPasskey = (response: string, landing: string): Promise<PasskeyResult> =>
  submitProof("passkey", { response }, landing);

/** The server's challenge is valid for five minutes. */
const renewAfterMs = 4 * 60_000;

/**
 * Offers passkeys in the autofill list of the email field until `signal` aborts. Resolves to the browser's
 * response for the passkey that the user chose; null if the browser does not support it, the server rejected
 * the request, or `signal` aborted. A page in the background sends no requests.
 */
export async function offerPasskeyAutofill(signal: AbortSignal): Promise<string | null> {
  try {
    if (!(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) return null;
    while (true) {
      await whenVisible();
      if (signal.aborted) return null;
      const response = await offerOnce(signal);
      if (response !== "expired") return response;
    }
  } catch {
    // The user did not start this request, so its errors are not shown: the button has the same effect.
    return null;
  }
}

async function offerOnce(signal: AbortSignal): Promise<string | "expired"> {
  const { startAuthentication, WebAuthnAbortService } = await import("@simplewebauthn/browser");
  const options = await requestOptions("autofill");
  if (!options.ok) throw new Error("no challenge");
  const optionsJSON = await options.json();
  signal.throwIfAborted();
  let isExpired = false;
  const cancel = () => WebAuthnAbortService.cancelCeremony();
  const timer = setTimeout(() => {
    isExpired = true;
    cancel();
  }, renewAfterMs);
  signal.addEventListener("abort", cancel);
  try {
    return JSON.stringify(await startAuthentication({ optionsJSON, useBrowserAutofill: true }));
  } catch (error) {
    if (isExpired) return "expired";
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

const whenVisible = () =>
  new Promise<void>((resolve) => {
    const check = () => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", check);
      resolve();
    };
    document.addEventListener("visibilitychange", check);
    check();
  });
