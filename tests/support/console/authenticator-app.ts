import { Secret, TOTP } from "otpauth";
import type { SignInVisitor } from "./sign-in-visitor";

/** The code that an authenticator app shows, `steps` time steps of 30 seconds from now. */
export const codeOf = (secret: string, at: Date, steps = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: at.getTime() + steps * 30_000 });

/** Sets up an app for the signed-in user of this caller. Returns its secret and the recovery codes. */
export async function enrol(
  visitor: SignInVisitor,
  proof: string,
  now: Date,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const started = await visitor.call("account.startAuthenticator", { proof });
  if (!started.ok) throw new Error(started.message);
  const { secret } = started.data as { secret: string };
  const confirmed = await visitor.call("account.confirmAuthenticator", { code: codeOf(secret, now) });
  if (!confirmed.ok) throw new Error(confirmed.message);
  return { secret, recoveryCodes: (confirmed.data as { recoveryCodes: string[] }).recoveryCodes };
}
