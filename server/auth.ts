import type { AuthOptions, LoggerInstance } from "next-auth";
import { decode } from "next-auth/jwt";
import Credentials from "next-auth/providers/credentials";
import type { ConsoleDeps } from "./console-deps";
import { addressBucket } from "./limits/address-bucket";
import { errorFacts, type Log } from "./log";
import { ownPath } from "./own-path";
import { endSession, findSession, type Session } from "./services/sessions";
import { signIn } from "./services/sign-in";

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

/** next-auth's side of signing in and out: it keeps the cookies and its double-submit token, the rest is ours. */
export function authOptions(deps: ConsoleDeps): AuthOptions {
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
