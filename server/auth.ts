import type { NextRequest } from "next/server";
import NextAuth, { type AuthOptions, type LoggerInstance } from "next-auth";
import { decode } from "next-auth/jwt";
import Credentials from "next-auth/providers/credentials";
import { addressBucket } from "#server/limits/address-bucket";
import { endSession, findSession, type Session } from "#server/services/sessions";
import { signIn } from "#server/services/sign-in";
import type { ConsoleDeps } from "./console-deps";
import { errorFacts, type Log } from "./log";
import { isBodyWithin, isFromOwnPage } from "./own-page";
import { ownPath } from "./own-path";

const lifetimeSeconds = 30 * 24 * 60 * 60;

/** As far as a cookie jar is read: of a request, or of the page being rendered. */
export type Cookies = { get(name: string): { value: string } | undefined };

// A browser takes a `__Host-` cookie only over TLS, for the whole host and from nobody else.
const sessionCookieName = (url: string) =>
  url.startsWith("https:") ? "__Host-posthorn.session" : "posthorn.session";

/**
 * The session of whoever sent these cookies, or null. The token is only the way to our row, which is read every time: a
 * session that was ended is refused at its next call.
 */
export async function readSession(deps: ConsoleDeps, cookies: Cookies): Promise<Session | null> {
  const token = cookies.get(sessionCookieName(deps.url))?.value;
  if (!token || token.length > 4096) return null;
  const claims = await decode({ token, secret: deps.authSecret }).catch(() => null);
  return typeof claims?.sid === "string" ? findSession(deps, claims.sid) : null;
}

/** What of next-auth is open: signing in by form, signing out, and the token that both need. */
const ACTIONS = new Set([
  "GET csrf",
  "GET error",
  "GET providers",
  "GET session",
  "GET signin",
  "POST callback/credentials",
  "POST signout",
]);
const bodyMaxBytes = 16 * 1024;

/** Answers a call below `/api/auth`. `context` is what Next gives a route file. */
export async function answerAuth(
  deps: ConsoleDeps,
  request: NextRequest,
  context: { params: Promise<{ nextauth: string[] }> },
): Promise<Response> {
  const { nextauth } = await context.params;
  if (!ACTIONS.has(`${request.method} ${nextauth.join("/")}`)) return plain(404, "There is nothing here.");
  if (request.method === "POST") {
    if (!isFromOwnPage(deps.url, request.headers))
      return plain(403, "This call must come from a page of ours.");
    // next-auth reads a body whole, whatever its length.
    if (!isBodyWithin(bodyMaxBytes, request.headers))
      return plain(413, `Send at most ${bodyMaxBytes} bytes, and say how many.`);
  }
  return NextAuth(request, context, authOptions(deps));
}

const plain = (status: number, text: string) => new Response(`${text}\n`, { status });

/** next-auth's side of signing in and out: it keeps the cookies and its double-submit token, the rest is ours. */
function authOptions(deps: ConsoleDeps): AuthOptions {
  const isSecure = deps.url.startsWith("https:");
  return {
    secret: deps.authSecret,
    session: { strategy: "jwt", maxAge: lifetimeSeconds },
    useSecureCookies: isSecure,
    cookies: {
      sessionToken: {
        name: sessionCookieName(deps.url),
        options: { httpOnly: true, sameSite: "lax", path: "/", secure: isSecure },
      },
    },
    pages: { signIn: "/login", signOut: "/login", error: "/login" },
    logger: authLogger(deps.log),
    providers: [
      Credentials({
        credentials: { email: {}, password: {} },
        authorize: (credentials, request) => authorize(deps, credentials, new Headers(request.headers)),
      }),
    ],
    callbacks: {
      redirect: async ({ url }) => `${deps.url}${ownPath(url, deps.url)}`,
      jwt: async ({ token, user }) => {
        if (user) return { sub: user.id, sid: "sessionId" in user ? user.sessionId : undefined };
        // Throwing makes next-auth drop the cookie.
        if (typeof token.sid !== "string" || !(await findSession(deps, token.sid)))
          throw new Error("the session is over");
        return token;
      },
      session: async ({ session }) => ({ expires: session.expires }),
    },
    events: {
      signOut: async ({ token }) => {
        if (typeof token?.sid === "string") await endSession(deps, token.sid);
      },
    },
  };
}

/** Errors of signing in, as they reach the form. They tell nothing about the account. */
export const SIGN_IN_ERRORS = ["CredentialsSignin", "TooManyTries", "Unavailable"] as const;

async function authorize(
  deps: ConsoleDeps,
  credentials: Record<string, unknown> | undefined,
  headers: Headers,
): Promise<{ id: string; sessionId: string } | null> {
  const { email, password } = credentials ?? {};
  if (typeof email !== "string" || typeof password !== "string") return null;
  const result = await signIn(deps, {
    email,
    password,
    address: clientAddress(deps, headers),
    userAgent: headers.get("user-agent"),
  }).catch((error) => {
    deps.log.error("sign_in.failed", errorFacts(error));
    // next-auth writes the message into an address that the browser keeps; a database's would hold the account's name.
    throw new Error("Unavailable" satisfies (typeof SIGN_IN_ERRORS)[number]);
  });
  switch (result.kind) {
    case "in":
      return { id: result.user.id, sessionId: result.sessionId };
    case "too_many_tries":
      throw new Error("TooManyTries" satisfies (typeof SIGN_IN_ERRORS)[number]);
    case "refused":
      return null;
  }
}

/** The bucket of the address that a request came from, without its prefix. */
function clientAddress(deps: ConsoleDeps, headers: Headers): string {
  const peer = deps.peerHeader === null ? null : headers.get(deps.peerHeader);
  return addressBucket(headers, peer ?? undefined, deps.trustedHops).replace(/^address:/, "");
}

// Its own messages can hold what was typed; the code says enough.
function authLogger(log: Log): Partial<LoggerInstance> {
  return {
    error: (code) => log.warn("auth.error", { code: String(code).slice(0, 60) }),
    warn: () => {},
    debug: () => {},
  };
}
