import type { SignInWay } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/visitor";
import { openSession } from "../sessions";
import type { User } from "../users";
import { recordAccountEvent } from "./events";

/** How each way of signing in is called in the events of an account. */
export const WAYS: Record<SignInWay, string> = {
  password: "password",
  link: "mailed link",
  passkey: "passkey",
  github: "GitHub",
  google: "Google",
};

/** A session, open for somebody who has proved all that they must. */
export type LetIn = { kind: "in"; user: User; sessionId: string };

/**
 * Opens that session, and tells the account's events by what. To be called by `admit` and by the second step alone:
 * whoever calls it says that nothing more is to be proved.
 */
export async function letIn(deps: Deps, input: { user: User; visitor: Visitor; by: string }): Promise<LetIn> {
  const { user, visitor, by } = input;
  const session = await openSession(deps, { userId: user.id, ...visitor });
  await recordAccountEvent(deps.db, { userId: user.id, kind: "signed_in", subject: by, visitor });
  return { kind: "in", user, sessionId: session.id };
}
