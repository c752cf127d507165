import type { PasskeyResult } from "../passkey-client";

type Fault = Extract<PasskeyResult, { fault: string }>["fault"];

/** What a passkey that did not work comes to, in words. */
export const PASSKEY_FAULTS: Record<Fault, string> = {
  refused: "This passkey opens nothing here. It may have been removed.",
  turned_down: "No passkey was given. Try again, or sign in another way.",
  too_many_tries: "Too many tries. Wait a minute and try again.",
  step_over: "That took too long. Sign in again.",
  unavailable: "Passkeys do not work just now. Try again, or sign in another way.",
};

const ELSEWHERE =
  "Signing in there did not work out, and nothing was changed. Try again, or sign in another way.";

/** By the name that the address tells: what signing in elsewhere came to. */
const SAID: Record<string, string> = {
  NoAccount:
    "Nobody here has a verified address of that account. Sign in with the address you were invited by, or ask for an invitation.",
  Unavailable: "Signing in does not work just now. Try again in a moment.",
  StepOver: "That took too long. Sign in again.",
};

/** A sentence for the error that the address of the sign-in page tells; null where it tells none. */
export const sayError = (error: string | undefined): string | null =>
  error === undefined ? null : Object.hasOwn(SAID, error) ? (SAID[error] ?? ELSEWHERE) : ELSEWHERE;
