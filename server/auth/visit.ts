import { AppError } from "#server/platform/errors";
import type { Visitor } from "#server/platform/http/visitor";
import { errorFacts } from "#server/platform/log";
import type { TwoFactorResult } from "#server/services/account/factors/two-factor-challenge";
import type { Admission } from "#server/services/account/sign-in/admit";
import type { ConsoleDeps } from "./deps";

/** The state of one request below `/api/auth` that next-auth does not hold itself. */
export type Visit = {
  readonly visitor: Visitor;
  /** The token of the browser's open 2FA challenge. */
  readonly step: string | null;
  /** The result of a successful sign-in step. */
  admission: Admission | null;
  /** The local path to open after the sign-in. */
  landing: string;
};

/** The result of a sign-in step, for every sign-in method. */
export type StepResult = Admission | TwoFactorResult;

/** Sign-in errors as the page receives them. They reveal nothing about an account. */
export const SIGN_IN_ERRORS = [
  "CredentialsSignin",
  "TooManyAttempts",
  "Expired",
  "NoAccount",
  "Unavailable",
] as const;
export type SignInError = (typeof SIGN_IN_ERRORS)[number];

/** An error whose message next-auth passes to the sign-in page in the redirect URL. */
const signInError = (error: SignInError) => new Error(error);

/**
 * Implements `authorize` of a next-auth provider: runs a sign-in step and stores its result in the visit.
 * Internal errors are logged, and the browser gets only a `SignInError`.
 */
export async function runSignInStep(
  deps: ConsoleDeps,
  visit: Visit,
  step: () => Promise<StepResult>,
): Promise<{ id: string } | null> {
  const result = await step().catch((error) => {
    if (error instanceof AppError && error.code === "unavailable") deps.log.warn("sign_in.busy");
    else deps.log.error("sign_in.failed", errorFacts(error));
    // A database error message could contain the email address.
    throw signInError("Unavailable");
  });
  switch (result.kind) {
    case "signed_in":
    case "two_factor":
      visit.admission = result;
      // The sign-in may have queued an email.
      if (result.kind === "signed_in") deps.wake();
      return { id: result.kind === "signed_in" ? result.user.id : "pending" };
    case "too_many_attempts":
      throw signInError("TooManyAttempts");
    case "expired":
      throw signInError("Expired");
    case "rejected":
      return null;
  }
}

/**
 * Runs the sign-in step of a provider account for next-auth's `signIn`. Returns the error for the page, or
 * null.
 */
export async function runProviderStep(
  deps: ConsoleDeps,
  visit: Visit,
  step: () => Promise<Admission | { kind: "rejected" }>,
): Promise<SignInError | null> {
  try {
    return (await runSignInStep(deps, visit, step)) ? null : "NoAccount";
  } catch {
    return "Unavailable";
  }
}
