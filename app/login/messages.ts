import type { SignInFault } from "../auth-client";
import type { PasskeyFault } from "../passkey-client";

/** The message for each sign-in error, as for a password. */
export const SIGN_IN_MESSAGES: Record<SignInFault, string> = {
  rejected: "Incorrect email or password.",
  too_many_attempts: "Too many attempts. Wait a minute and try again.",
  expired: "The sign-in expired. Sign in again.",
  unavailable: "Sign-in is temporarily unavailable. Try again in a moment.",
};

/** The message for each passkey error. */
export const PASSKEY_MESSAGES: Record<PasskeyFault, string> = {
  ...SIGN_IN_MESSAGES,
  rejected: "This passkey does not belong to an account here. It may have been removed.",
  dismissed: "No passkey was used. Try again, or use another sign-in method.",
  unavailable: "Passkeys are temporarily unavailable. Try again, or use another sign-in method.",
};

/**
 * Opens the page that follows a sign-in step, with a full page load, which clears the data of a previous user
 * from memory. Returns null, or the message if the step failed.
 */
export function openNextPage<Fault extends string>(
  result: { to: string } | { fault: Fault; message?: string },
  messages: Record<Fault, string>,
): string | null {
  if ("fault" in result) return result.message ?? messages[result.fault];
  window.location.assign(result.to);
  return null;
}

const EXTERNAL_FAILED = "Sign-in with the external account failed. Try again, or use another sign-in method.";

/** The messages for the `error` query parameter after sign-in with an external account. */
const MESSAGES = new Map([
  [
    "NoAccount",
    "No user here has the verified email address of that account. Sign in with the address of your invitation, or ask for an invitation.",
  ],
  ["Unavailable", SIGN_IN_MESSAGES.unavailable],
  ["Expired", SIGN_IN_MESSAGES.expired],
]);

/** The message for the `error` query parameter of the sign-in page. Null without that parameter. */
export const errorMessage = (error: string | undefined): string | null =>
  error === undefined ? null : (MESSAGES.get(error) ?? EXTERNAL_FAILED);
