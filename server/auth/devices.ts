import { encode } from "next-auth/jwt";
import type { KnownDevice } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import { deviceCookie, deviceCookieName, deviceSeconds } from "./cookies";
import type { ConsoleDeps } from "./deps";
import { decodeToken } from "./tokens";

/** Salt that separates device tokens from session tokens: one cannot be used as the other. */
const PURPOSE = "device";

/** A browser that several users share stays known to this many of them. More would not fit into a cookie. */
const usersMax = 5;

/**
 * The Set-Cookie header that marks a browser as known for a user who has just signed in. The cookie grants no
 * access: it only gives the user's sign-in attempts from this browser their own limit, and they are not
 * announced by email. A valid earlier cookie of the user is renewed. The browser also stays known for up to
 * four earlier users.
 */
export async function createDeviceCookie(
  deps: Pick<ConsoleDeps, "url" | "authSecrets">,
  email: string,
  before: KnownDevice | null,
): Promise<string> {
  const id = before?.email === email ? before.id : newId();
  const earlierEmails = (before ? [before.email, ...before.earlierEmails] : [])
    .filter((each) => each !== email)
    .slice(0, usersMax - 1);
  const token = await encode({
    token: { id, email, earlierEmails },
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
  const { id, email, earlierEmails } = claims ?? {};
  if (typeof id !== "string" || typeof email !== "string") return null;
  // A cookie of an earlier release has no such list.
  const earlier: unknown[] = Array.isArray(earlierEmails) ? earlierEmails : [];
  return { id, email, earlierEmails: earlier.filter((each) => typeof each === "string") };
}
