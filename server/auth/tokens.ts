import { decode, type JWT } from "next-auth/jwt";
import type { ConsoleDeps } from "./deps";

const charsMax = 4096;

/**
 * The claims of a token that was encrypted with the active secret or a former one; null for every other text.
 * `salt` names the purpose of a token that is not a session.
 */
export async function decodeToken(
  { authSecrets }: Pick<ConsoleDeps, "authSecrets">,
  token: string,
  salt?: string,
): Promise<JWT | null> {
  if (token === "" || token.length > charsMax) return null;
  for (const secret of authSecrets()) {
    const claims = await decode({ token, secret, ...(salt !== undefined && { salt }) }).catch(() => null);
    if (claims) return claims;
  }
  return null;
}
