import type { AuthOptions, LoggerInstance } from "next-auth";
import Credentials from "next-auth/providers/credentials";
import { SIGN_IN_PROVIDERS } from "#db/schema/account";
import { resolveRedirectPath } from "#server/platform/http/own-path";
import type { Log } from "#server/platform/log";
import { completeTwoFactorByCode } from "#server/services/account/factors/two-factor-challenge";
import { signInByProvider } from "#server/services/account/linked-accounts";
import { signInByPasskey } from "#server/services/account/passkeys/sign-in";
import { signIn } from "#server/services/account/sign-in/sign-in";
import { signInByLink } from "#server/services/account/sign-in/sign-in-by-email";
import { endSession, findSession } from "#server/services/people/sessions";
import { sessionCookieName } from "./cookies";
import type { ConsoleDeps } from "./deps";
import { oauthProviders } from "./providers";
import { decodeToken } from "./tokens";
import { runProviderStep, runSignInStep, type StepResult, type Visit } from "./visit";

const lifetimeSeconds = 30 * 24 * 60 * 60;

/**
 * The next-auth configuration. next-auth manages the cookies and the double-submit CSRF token; the rest is
 * our own code.
 */
export function authOptions(deps: ConsoleDeps, visit: Visit): AuthOptions {
  const isSecure = deps.url.startsWith("https:");
  return {
    secret: deps.authSecrets()[0],
    session: { strategy: "jwt", maxAge: lifetimeSeconds },
    // next-auth itself decrypts with one secret only.
    jwt: { decode: ({ token }) => decodeToken(deps, token ?? "") },
    useSecureCookies: isSecure,
    cookies: {
      sessionToken: {
        name: sessionCookieName(deps.url),
        options: { httpOnly: true, sameSite: "lax", path: "/", secure: isSecure },
      },
    },
    pages: { signIn: "/login", signOut: "/login", error: "/login" },
    logger: authLogger(deps.log),
    providers: [...formProviders(deps, visit), ...oauthProviders(deps.providers)],
    callbacks: {
      redirect: async ({ url }) => {
        visit.landing = resolveRedirectPath(url, deps.url);
        return `${deps.url}${visit.landing}`;
      },
      // Unless this returns true, next-auth creates no token and redirects the browser to the returned URL.
      signIn: async ({ user, account }) => {
        const provider = SIGN_IN_PROVIDERS.find((each) => each === account?.provider);
        if (account && provider) {
          const providerAccount = {
            provider,
            issuer: provider === "oidc" ? (deps.providers.oidc?.issuer ?? null) : null,
            accountId: account.providerAccountId,
            email: user.email ?? null,
            name: user.name ?? null,
          };
          const error = await runProviderStep(deps, visit, () =>
            signInByProvider(deps, providerAccount, visit.visitor),
          );
          if (error) return `${deps.url}/login?error=${error}`;
        }
        if (visit.admission?.kind === "two_factor")
          return `${deps.url}/login/two-factor?callbackUrl=${encodeURIComponent(visit.landing)}`;
        return visit.admission?.kind === "signed_in";
      },
      jwt: async ({ token, user }) => {
        if (user && visit.admission?.kind === "signed_in")
          return { sub: visit.admission.user.id, sid: visit.admission.sessionId };
        // An error makes next-auth delete the cookie.
        if (typeof token.sid !== "string" || !(await findSession(deps, token.sid)))
          throw new Error("the session has ended");
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

/** The sign-in methods of our own pages. A call without one of the fields is rejected. */
const formProviders = (deps: ConsoleDeps, visit: Visit): AuthOptions["providers"] => {
  const { visitor, step: token } = visit;
  const form = (id: string, fields: string[], signInWith: (...values: string[]) => Promise<StepResult>) =>
    Credentials({
      id,
      credentials: Object.fromEntries(fields.map((name) => [name, {}])),
      authorize: async (given) => {
        const values = fields.map((name) => given?.[name]).filter((value) => typeof value === "string");
        if (values.length < fields.length) return null;
        return runSignInStep(deps, visit, () => signInWith(...values));
      },
    });
  return [
    form("credentials", ["email", "password"], (email = "", password = "") =>
      signIn(deps, { email, password, ...visitor }),
    ),
    form("link", ["token"], (link = "") => signInByLink(deps, { token: link, visitor })),
    form("two-factor", ["code"], async (code = "") =>
      token === null ? { kind: "expired" } : completeTwoFactorByCode(deps, { token, code, visitor }),
    ),
    form("passkey", ["response"], (response = "") =>
      signInByPasskey(deps, { response, step: token, visitor }),
    ),
  ];
};

// next-auth's messages can contain user input, so only the code is logged.
function authLogger(log: Log): Partial<LoggerInstance> {
  return {
    error: (code) => log.warn("auth.error", { code: String(code).slice(0, 60) }),
    warn: () => {},
    debug: () => {},
  };
}
