import type { PasskeyResult } from "../passkey-client";

type Fault = Extract<PasskeyResult, { fault: string }>["fault"];

/** The message for each passkey error. */
export const PASSKEY_MESSAGES: Record<Fault, string> = {
  rejected: "This passkey does not belong to an account here. It may have been removed.",
  dismissed: "No passkey was used. Try again, or use another sign-in method.",
  too_many_attempts: "Too many attempts. Wait a minute and try again.",
  expired: "The sign-in expired. Sign in again.",
  unavailable: "Passkeys are temporarily unavailable. Try again, or use another sign-in method.",
};

const EXTERNAL_FAILED = "Sign-in with the external account failed. Try again, or use another sign-in method.";

/** The messages for the `error` query parameter after sign-in with an external account. */
const MESSAGES: Record<string, string> = {
  NoAccount:
    "No user here has the verified email address of that account. Sign in with the address of your invitation, or ask for an invitation.",
  Unavailable: "Sign-in is temporarily unavailable. Try again in a moment.",
  Expired: "The sign-in expired. Sign in again.",
};

/** The message for the `error` query parameter of the sign-in page. Null without that parameter. */
export const errorMessage = (error: string | undefined): string | null =>
  error === undefined
    ? null
    : Object.hasOwn(MESSAGES, error)
      ? (MESSAGES[error] ?? EXTERNAL_FAILED)
      : EXTERNAL_FAILED;
