import type { SignInMethod } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/platform/http/visitor";
import { recordAccountEvent } from "../../people/events";
import { openSession } from "../../people/sessions";
import type { User } from "../../people/users";
import { announceNewDevice } from "./new-device";

/** The name of each sign-in method in account events. */
export const SIGN_IN_METHOD_NAMES: Record<SignInMethod, string> = {
  password: "password",
  link: "email link",
  passkey: "passkey",
  github: "GitHub",
  google: "Google",
  oidc: "single sign-on",
};

/** A new session of a user who has completed all sign-in steps. */
export type SignedInSession = { kind: "signed_in"; user: User; sessionId: string };

/**
 * Opens a session, records the sign-in as an account event, and queues an email if the device is new.
 * `deps.db` must be a transaction that has locked the user. Call `deps.wake()` after the commit. Only `admit`
 * and the code that completes 2FA may call it: the caller guarantees that all required sign-in
 * steps are complete.
 */
export async function completeSignIn(
  deps: Deps,
  input: { user: User; visitor: Visitor; by: string },
): Promise<SignedInSession> {
  const { user, visitor, by } = input;
  // Before the session is opened: the first one of a new user is not announced.
  await announceNewDevice(deps, input);
  const session = await openSession(deps, {
    userId: user.id,
    address: visitor.address,
    userAgent: visitor.userAgent,
  });
  await recordAccountEvent(deps.db, { userId: user.id, kind: "signed_in", subject: by, visitor });
  return { kind: "signed_in", user, sessionId: session.id };
}
