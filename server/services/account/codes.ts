import type { Deps } from "#server/deps";
import { isRecoveryCode, takeRecoveryCode } from "./recovery-codes";
import { takeTotpCode } from "./totp";

export type CodeKind = "totp" | "recovery_code";

/**
 * Takes a code of the authenticator app or a recovery code, with or without the spaces and dashes it was shown with.
 * Tells which it was, or null for one that is wrong or was taken before. The caller holds the user.
 */
export async function takeCode(
  deps: Deps,
  input: { userId: string; code: string },
): Promise<CodeKind | null> {
  if (isRecoveryCode(input.code)) return (await takeRecoveryCode(deps.db, input)) ? "recovery_code" : null;
  return (await takeTotpCode(deps, input)) ? "totp" : null;
}
