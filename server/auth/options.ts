import type { AuthOptions, LoggerInstance } from "next-auth";
import Credentials from "next-auth/providers/credentials";
import { SIGN_IN_PROVIDERS } from "#db/schema/account";
import type { ConsoleDeps } from "#server/console-deps";
import type { Log } from "#server/log";
import { ownPath } from "#server/own-path";
import { signInByProvider } from "#server/services/account/linked-accounts";
import { signInByPasskey } from "#server/services/account/passkey-sign-in";
import { finishByCode } from "#server/services/account/second-step";
import { endSession, findSession } from "#server/services/sessions";
import { signIn } from "#server/services/sign-in";
import { signInByLink } from "#server/services/sign-in-by-mail";
import { sessionCookieName } from "./cookies";
import { oauthProviders } from "./providers";
import { settle, settleElsewhere, type Visit } from "./visit";

const lifetimeSeconds = 30 * 24 * 60 * 60;

/** next-auth's side of signing in and out: it keeps the cookies and its double-submit token, the rest is ours. */
export function authOptions(deps: ConsoleDeps, visit: Visit): AuthOptions {
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
    providers: [...formProviders(deps, visit), ...oauthProviders(deps.providers)],
    callbacks: {
      redirect: async ({ url }) => {
        visit.landing = ownPath(url, deps.url);
        return `${deps.url}${visit.landing}`;
      },
      // Without a session of ours next-auth makes no token: it sends the browser to what is answered here.
      signIn: async ({ user, account }) => {
        const provider = SIGN_IN_PROVIDERS.find((each) => each === account?.provider);
        if (account && provider) {
          const accountId = account.providerAccountId;
          const elsewhere = { provider, accountId, email: user.email ?? null, name: user.name ?? null };
          const error = await settleElsewhere(deps, visit, () =>
            signInByProvider(deps, elsewhere, visit.visitor),
          );
          if (error) return `${deps.url}/login?error=${error}`;
        }
        if (visit.admission?.kind === "second_step")
          return `${deps.url}/login/second?callbackUrl=${encodeURIComponent(visit.landing)}`;
        return visit.admission?.kind === "in";
      },
      jwt: async ({ token, user }) => {
        if (user && visit.admission?.kind === "in")
          return { sub: visit.admission.user.id, sid: visit.admission.sessionId };
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

/** Ways of signing in whose proof is typed, or made, on a page of ours. */
const formProviders = (deps: ConsoleDeps, visit: Visit): AuthOptions["providers"] => [
  Credentials({
    credentials: { email: {}, password: {} },
    authorize: async (given) => {
      const { email, password } = given ?? {};
      if (typeof email !== "string" || typeof password !== "string") return null;
      return settle(deps, visit, () => signIn(deps, { email, password, ...visit.visitor }));
    },
  }),
  Credentials({
    id: "link",
    credentials: { token: {} },
    authorize: async (given) => {
      const { visitor } = visit;
      const token = given?.token;
      if (typeof token !== "string") return null;
      return settle(deps, visit, () => signInByLink(deps, { token, visitor }));
    },
  }),
  Credentials({
    id: "second-step",
    credentials: { code: {} },
    authorize: async (given) => {
      const { visitor, step } = visit;
      const code = given?.code;
      if (typeof code !== "string") return null;
      return settle(deps, visit, async () =>
        step === null ? { kind: "over" } : finishByCode(deps, { token: step, code, visitor }),
      );
    },
  }),
  Credentials({
    id: "passkey",
    credentials: { response: {} },
    authorize: async (given) => {
      const { visitor, step } = visit;
      const response = given?.response;
      if (typeof response !== "string") return null;
      return settle(deps, visit, () => signInByPasskey(deps, { response, step, visitor }));
    },
  }),
];

// Its own messages can hold what was typed; the code says enough.
function authLogger(log: Log): Partial<LoggerInstance> {
  return {
    error: (code) => log.warn("auth.error", { code: String(code).slice(0, 60) }),
    warn: () => {},
    debug: () => {},
  };
}
