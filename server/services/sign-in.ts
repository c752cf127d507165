import type { Deps } from "#server/deps";
import type { InProcessStore } from "#server/limits/in-process";
import type { Visitor } from "#server/visitor";
import { type Admission, admit } from "./account/admit";
import { isKnownAddress } from "./sessions";
import { foldAddress, judgePassword } from "./users";

/**
 * Tries a minute, sliding. None of them locks an account: a browser in which its owner signed in before is counted by itself,
 * and whoever signed in from an address before is not counted in the account's own bucket there. So strangers can exhaust the
 * others, elsewhere or behind the same proxy, without keeping its owner out.
 */
export const SIGN_IN_TRIES_PER_MINUTE = {
  device: 6,
  addressAndAccount: 6,
  address: 20,
  accountFromStrangers: 30,
} as const;

export type SignIn = Admission | { kind: "refused" } | { kind: "too_many_tries" };

/**
 * Signs somebody in by address and password: opens their session, or the second step that they owe. An unknown address
 * and a wrong password are refused alike, after the same work; every try counts.
 */
export async function signIn(
  deps: Deps & { signInTries: InProcessStore },
  input: { email: string; password: string } & Visitor,
): Promise<SignIn> {
  const email = foldAddress(input.email);
  if (!(await mayTry(deps, email, input))) return { kind: "too_many_tries" };
  const judged = await judgePassword(deps, { email, password: input.password });
  if (!judged) return { kind: "refused" };
  const { address, userAgent } = input;
  return admit(deps, { ...judged, way: "password", visitor: { address, userAgent } });
}

async function mayTry(
  deps: Deps & { signInTries: InProcessStore },
  email: string,
  { address, device }: Visitor,
): Promise<boolean> {
  const {
    device: perDevice,
    addressAndAccount,
    address: perAddress,
    accountFromStrangers,
  } = SIGN_IN_TRIES_PER_MINUTE;
  const take = (name: string, limit: number) => deps.signInTries.take(name, limit).allowed;
  if (device?.email === email) return take(`device:${device.id}`, perDevice);
  if (!take(`pair:${address}:${email}`, addressAndAccount)) return false;
  if (!take(`address:${address}`, perAddress)) return false;
  if (await isKnownAddress(deps, { email, address })) return true;
  return take(`account:${email}`, accountFromStrangers);
}
