import type { Visitor } from "#server/platform/http/visitor";
import { isKnownAddress } from "../../people/sessions";
import type { LimitedDeps } from "../../people/sign-in-counters";
import { authenticateByPassword, foldAddress } from "../../people/users";
import { type Admission, admit } from "./admit";

/**
 * Attempts per sliding minute. None of these limits locks an account: a browser in which the user has signed
 * in before has its own limit, and attempts from an IP address where the user has signed in before do not
 * count towards the account's limit. Attackers who exhaust the other limits, even behind the same proxy,
 * therefore do not lock the user out.
 */
export const SIGN_IN_ATTEMPTS_PER_MINUTE = {
  device: 6,
  addressAndAccount: 6,
  address: 20,
  accountFromStrangers: 30,
} as const;

export type SignIn = Admission | { kind: "rejected" } | { kind: "too_many_attempts" };

/**
 * Signs a user in by email address and password: opens a session, or a 2FA challenge if 2FA is on. An unknown
 * address and a wrong password have the same result and cost. Every attempt counts.
 */
export async function signIn(
  deps: LimitedDeps,
  input: { email: string; password: string } & Visitor,
): Promise<SignIn> {
  const email = foldAddress(input.email);
  if (!(await countAttempt(deps, email, input))) return { kind: "too_many_attempts" };
  const matched = await authenticateByPassword(deps, { email, password: input.password });
  if (!matched) return { kind: "rejected" };
  const { address, userAgent, device } = input;
  return admit(deps, { ...matched, method: "password", visitor: { address, userAgent, device } });
}

/** Counts the attempt in every limit that applies. False if one is exceeded. */
async function countAttempt(
  deps: LimitedDeps,
  email: string,
  { address, device }: Visitor,
): Promise<boolean> {
  const perMinute = SIGN_IN_ATTEMPTS_PER_MINUTE;
  const { take } = deps.signInLimiter;
  if (device?.email === email) return take(`device:${device.id}`, perMinute.device);
  // The IP address comes first: it bounds how many counters a client can create with made-up account names.
  if (!(await take(`address:${address}`, perMinute.address))) return false;
  if (!(await take(`pair:${address}:${email}`, perMinute.addressAndAccount))) return false;
  if (await isKnownAddress(deps, { email, address })) return true;
  return take(`account:${email}`, perMinute.accountFromStrangers);
}
