import { decode, encode } from "next-auth/jwt";
import type { ConsoleDeps } from "#server/console-deps";
import { newId } from "#server/ids";
import type { KnownDevice } from "#server/visitor";
import { deviceCookie, deviceCookieName, deviceSeconds } from "./cookies";

/** Keeps these tokens apart from those of sessions: neither opens as the other. */
const PURPOSE = "device";

/**
 * Gives a browser in which somebody just signed in the mark of that, as the text of a Set-Cookie header. It opens nothing: it
 * only says that tries of theirs from here are no stranger's. A browser that has their mark keeps it for longer.
 */
export async function markDevice(
  deps: Pick<ConsoleDeps, "url" | "authSecret">,
  email: string,
  before: KnownDevice | null,
): Promise<string> {
  const id = before?.email === email ? before.id : newId();
  const token = await encode({
    token: { id, email },
    secret: deps.authSecret,
    salt: PURPOSE,
    maxAge: deviceSeconds,
  });
  return deviceCookie(deps.url, token);
}

/** Who signed in last in the browser that sent these cookies; null without a mark of ours, or one that is too old. */
export async function readDevice(
  deps: Pick<ConsoleDeps, "url" | "authSecret">,
  cookies: ReadonlyMap<string, string>,
): Promise<KnownDevice | null> {
  const token = cookies.get(deviceCookieName(deps.url));
  if (!token || token.length > 4096) return null;
  const claims = await decode({ token, secret: deps.authSecret, salt: PURPOSE }).catch(() => null);
  const { id, email } = claims ?? {};
  return typeof id === "string" && typeof email === "string" ? { id, email } : null;
}
