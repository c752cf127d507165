import { handleOwnCall, isOwnCall } from "#server/auth/calls";
import { type Cookies, sessionCookieName, twoFactorCookie, twoFactorCookieName } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { createDeviceCookie, readDevice } from "#server/auth/devices";
import { handleByNextAuth, parseCookies } from "#server/auth/next-auth";
import { authOptions } from "#server/auth/options";
import { decodeToken } from "#server/auth/tokens";
import type { Visit } from "#server/auth/visit";
import { formatForeignOrigin, isBodyWithin, isFromOwnPage } from "#server/platform/http/own-page";
import { visitorOf } from "#server/platform/http/visitor";
import { findTwoFactorChallenge } from "#server/services/account/factors/two-factor-challenge";
import { findSession, type Session } from "#server/services/people/sessions";

/**
 * The session that these cookies belong to, or null. The token only identifies the session's row, which is
 * read for every request: a session that has ended is rejected at its next request.
 */
export async function getSession(deps: ConsoleDeps, cookies: Cookies): Promise<Session | null> {
  const claims = await decodeToken(deps, cookies.get(sessionCookieName(deps.url))?.value ?? "");
  return typeof claims?.sid === "string" ? findSession(deps, claims.sid) : null;
}

/**
 * The user who has to complete the second sign-in step, and the available methods. Null without an open 2FA
 * challenge.
 */
export async function getPendingTwoFactor(deps: ConsoleDeps, cookies: Cookies) {
  const token = cookies.get(twoFactorCookieName(deps.url))?.value;
  const step = token ? await findTwoFactorChallenge(deps, token) : null;
  if (!step) return null;
  const { user, factors } = step;
  return { email: user.email, hasTotp: factors.hasTotp, hasPasskey: factors.passkeys > 0 };
}

/** The next-auth actions that are enabled: sign-in, sign-out, and the CSRF token that both need. */
const ACTIONS: ReadonlySet<string> = new Set([
  "GET csrf",
  "GET error",
  "GET providers",
  "GET session",
  "GET signin",
  "POST callback/credentials",
  "POST callback/link",
  "POST callback/passkey",
  "POST callback/two-factor",
  "POST signout",
]);
const bodyMaxBytes = 16 * 1024;

/** Handles a request below `/api/auth`. `context` is the second argument of a Next.js route handler. */
export async function handleAuth(
  deps: ConsoleDeps,
  request: Request,
  context: { params: Promise<{ nextauth: string[] }> },
): Promise<Response> {
  const { nextauth } = await context.params;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const action = `${method} ${nextauth.join("/")}`;
  if (!isOpen(deps, action)) {
    const allowed = ["GET", "POST"].filter((other) => isOpen(deps, `${other} ${nextauth.join("/")}`));
    return allowed.length === 0
      ? plain(404, "Not found.")
      : plain(405, `${method} is not supported here. Use ${allowed}.`, { allow: allowed.join(", ") });
  }
  if (request.method === "POST") {
    if (!isFromOwnPage(deps.url, request.headers))
      return Response.json(
        { error: formatForeignOrigin(deps.url, request.headers) },
        { status: 403, headers: { "cache-control": "no-store" } },
      );
    // next-auth reads the whole body, without a size limit.
    if (!isBodyWithin(bodyMaxBytes, request.headers))
      return plain(
        413,
        `The body is too large. Send at most ${bodyMaxBytes} bytes, with a Content-Length header.`,
      );
  }
  const visit = await openVisit(deps, request.headers);
  if (isOwnCall(action)) return handleOwnCall(deps, request, action, visit);
  const response = await handleByNextAuth(request, nextauth, authOptions(deps, visit));
  response.headers.set("cache-control", "no-store");
  if (visit.admission?.kind === "two_factor")
    response.headers.append("set-cookie", twoFactorCookie(deps.url, visit.admission.token));
  else if (visit.admission && visit.step !== null)
    response.headers.append("set-cookie", twoFactorCookie(deps.url, null));
  if (visit.admission?.kind === "signed_in") {
    const { email } = visit.admission.user;
    const cookie = await createDeviceCookie(deps, email, visit.visitor.device ?? null);
    response.headers.append("set-cookie", cookie);
  }
  return response;
}

const isOpen = (deps: ConsoleDeps, action: string): boolean =>
  isOwnCall(action) ||
  ACTIONS.has(action) ||
  Object.keys(deps.providers).some((id) => action === `POST signin/${id}` || action === `GET callback/${id}`);

const plain = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(`${text}\n`, { status, headers: { "cache-control": "no-store", ...headers } });

async function openVisit(deps: ConsoleDeps, headers: Headers): Promise<Visit> {
  const cookies = parseCookies(headers);
  return {
    visitor: { ...visitorOf(deps, headers), device: await readDevice(deps, cookies) },
    step: cookies.get(twoFactorCookieName(deps.url)) || null,
    admission: null,
    landing: "/console",
  };
}
