import { encode } from "next-auth/jwt";
import type { KnownDevice } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import { deviceCookie, deviceCookieName, deviceSeconds } from "./cookies";
import type { ConsoleDeps } from "./deps";
import { decodeToken } from "./tokens";

/** Salt that separates device tokens from session tokens: one cannot be used as the other. */
const PURPOSE = "device";

/**
 * The Set-Cookie header that marks a browser as known for a user who has just signed in. The cookie grants no access: it only
 * gives the user's sign-in attempts from this browser their own limit. A valid earlier cookie of the user is renewed.
 */
export async function createDeviceCookie(
  deps: Pick<ConsoleDeps, "url" | "authSecrets">,
  email: string,
  before: KnownDevice | null,
): Promise<string> {
  const id = before?.email === email ? before.id : newId();
  const token = await encode({
    token: { id, email },
    secret: deps.authSecrets()[0],
    salt: PURPOSE,
    maxAge: deviceSeconds,
  });
  return deviceCookie(deps.url, token);
}

/** The last user of the browser that sent these cookies; null without a valid device cookie. */
export async function readDevice(
  deps: Pick<ConsoleDeps, "url" | "authSecrets">,
  cookies: ReadonlyMap<string, string>,
): Promise<KnownDevice | null> {
  const claims = await decodeToken(deps, cookies.get(deviceCookieName(deps.url)) ?? "", PURPOSE);
  const { id, email } = claims ?? {};
  return typeof id === "string" && typeof email === "string" ? { id, email } : null;
}
