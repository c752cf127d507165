import type { SignInWay } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/visitor";
import type { User } from "../users";
import { holdUser, needsSecondStep, readFactors } from "./factors";
import { type LetIn, letIn, WAYS } from "./let-in";
import { openSecondStep } from "./second-step";

/** What a first proof comes to: a session, or the token of a second step that is still owed. */
export type Admission = LetIn | { kind: "second_step"; token: string };

/**
 * Lets in whoever gave a first proof: a password, a mailed link, an account elsewhere. Every door ends here, so a person
 * with a second factor is never let in without it: they get a token that opens nothing but the second step. `passwordHash`
 * is what a password was judged by: it is refused where another one was written meanwhile.
 */
export async function admit(
  deps: Deps,
  input: { user: User; way: SignInWay; visitor: Visitor; passwordHash?: string },
): Promise<Admission | { kind: "refused" }> {
  const { user, way, visitor, passwordHash } = input;
  return deps.db.transaction(async (tx) => {
    const held = await holdUser(tx, user.id);
    if (passwordHash !== undefined && passwordHash !== held.passwordHash) return { kind: "refused" };
    if (needsSecondStep(await readFactors(tx, user.id)))
      return { kind: "second_step", token: await openSecondStep(tx, { userId: user.id, way }) };
    return letIn({ ...deps, db: tx }, { user, visitor, by: WAYS[way] });
  });
}
