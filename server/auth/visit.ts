import type { ConsoleDeps } from "#server/console-deps";
import { AppError } from "#server/errors";
import { errorFacts } from "#server/log";
import type { Admission } from "#server/services/account/admit";
import type { Visitor } from "#server/visitor";

/** One call below `/api/auth`: who makes it, and what it comes to beside what next-auth keeps. */
export type Visit = {
  readonly visitor: Visitor;
  /** The token of a second step that this browser owes. */
  readonly step: string | null;
  /** What somebody's proof came to. */
  admission: Admission | null;
  /** Where they wanted to go: a path of ours. */
  landing: string;
};

/** What a proof may come to, by whatever door it came. */
export type Proved = Admission | { kind: "refused" } | { kind: "too_many_tries" } | { kind: "over" };

/** Errors of signing in, as they reach the page. They tell nothing about an account. */
export const SIGN_IN_ERRORS = [
  "CredentialsSignin",
  "TooManyTries",
  "StepOver",
  "NoAccount",
  "Unavailable",
] as const;
export type SignInError = (typeof SIGN_IN_ERRORS)[number];

/** A refusal by name: next-auth writes it into the address to which it sends the browser. */
const named = (error: SignInError) => new Error(error);

/**
 * For the `authorize` of a provider: notes in the visit what a proof came to, and tells next-auth whether to go on. What
 * goes wrong inside is logged, and reaches the browser as a name of ours.
 */
export async function settle(
  deps: ConsoleDeps,
  visit: Visit,
  prove: () => Promise<Proved>,
): Promise<{ id: string } | null> {
  const proved = await prove().catch((error) => {
    if (error instanceof AppError && error.code === "unavailable") deps.log.warn("sign_in.busy");
    else deps.log.error("sign_in.failed", errorFacts(error));
    // A database's own message would hold the account's name.
    throw named("Unavailable");
  });
  switch (proved.kind) {
    case "in":
    case "second_step":
      visit.admission = proved;
      return { id: proved.kind === "in" ? proved.user.id : "nobody yet" };
    case "too_many_tries":
      throw named("TooManyTries");
    case "over":
      throw named("StepOver");
    case "refused":
      return null;
  }
}

/** The same for an account elsewhere, for next-auth's `signIn`. Answers the error that the page is to tell, or null. */
export async function settleElsewhere(
  deps: ConsoleDeps,
  visit: Visit,
  prove: () => Promise<Admission | { kind: "refused" }>,
): Promise<SignInError | null> {
  try {
    return (await settle(deps, visit, prove)) ? null : "NoAccount";
  } catch {
    return "Unavailable";
  }
}
