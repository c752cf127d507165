import type { Deps } from "#server/deps";
import type { InProcessStore } from "#server/limits/in-process";
import { type Admission, admit } from "./account/admit";
import { isKnownAddress } from "./sessions";
import { foldAddress, verifyPassword } from "./users";

/**
 * Tries a minute, sliding. None of them locks an account: whoever signed in from an address before is not counted in the
 * account's own bucket there, so strangers elsewhere can exhaust it without keeping its owner out.
 */
export const SIGN_IN_TRIES_PER_MINUTE = {
  addressAndAccount: 6,
  address: 20,
  accountFromStrangers: 30,
} as const;

export type SignIn = Admission | { kind: "refused" } | { kind: "too_many_tries" };

/**
 * Signs somebody in by address and password: opens their session, or the second step that they owe. An unknown address
 * and a wrong password are refused alike, after the same work; every try counts. `address` is the bucket of the client's
 * network address.
 */
export async function signIn(
  deps: Deps & { signInTries: InProcessStore },
  input: { email: string; password: string; address: string; userAgent: string | null },
): Promise<SignIn> {
  const email = foldAddress(input.email);
  if (!(await mayTry(deps, email, input.address))) return { kind: "too_many_tries" };
  const user = await verifyPassword(deps, { email, password: input.password });
  if (!user) return { kind: "refused" };
  const { address, userAgent } = input;
  return admit(deps, { user, way: "password", visitor: { address, userAgent } });
}

async function mayTry(
  deps: Deps & { signInTries: InProcessStore },
  email: string,
  address: string,
): Promise<boolean> {
  const { addressAndAccount, address: perAddress, accountFromStrangers } = SIGN_IN_TRIES_PER_MINUTE;
  const take = (name: string, limit: number) => deps.signInTries.take(name, limit).allowed;
  if (!take(`pair:${address}:${email}`, addressAndAccount)) return false;
  if (!take(`address:${address}`, perAddress)) return false;
  if (await isKnownAddress(deps, { email, address })) return true;
  return take(`account:${email}`, accountFromStrangers);
}
