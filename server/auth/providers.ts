import type { OAuthConfig } from "next-auth/providers/oauth";
import { z } from "zod";
import type { ProviderClient, ProviderClients } from "./provider-clients";

const answerTimeoutMs = 8_000;

type Raw = Record<string, unknown>;

/**
 * next-auth's description of each provider that is set up. An answer is bound to the browser that asked by state and
 * PKCE (RFC 7636), and where the provider signs it, by a nonce. The address of who it is stands there only if verified.
 */
export const oauthProviders = ({ github, google }: ProviderClients): OAuthConfig<Raw>[] => [
  ...(github ? [githubProvider(github)] : []),
  ...(google ? [googleProvider(google)] : []),
];

const GithubUser = z.object({ id: z.int(), login: z.string(), name: z.string().nullish() });
const GithubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** GitHub speaks OAuth 2 alone: who it is, and which address is verified, is asked of its API. */
const githubProvider = ({ id, secret, issuer, api }: ProviderClient): OAuthConfig<Raw> => ({
  id: "github",
  name: "GitHub",
  type: "oauth",
  clientId: id,
  clientSecret: secret,
  checks: ["pkce", "state"],
  httpOptions: { timeout: answerTimeoutMs },
  authorization: { url: `${issuer}/login/oauth/authorize`, params: { scope: "read:user user:email" } },
  token: `${issuer}/login/oauth/access_token`,
  userinfo: {
    url: `${api}/user`,
    request: async ({ tokens }) => {
      const token = tokens.access_token ?? "";
      const [user, emails] = await Promise.all([
        askGithub(`${api}/user`, token).then((answer) => GithubUser.parse(answer)),
        askGithub(`${api}/user/emails`, token).then((answer) => GithubEmails.parse(answer)),
      ]);
      const verified = emails.find(({ primary, verified }) => primary && verified);
      return {
        sub: String(user.id),
        name: user.name || user.login,
        ...(verified ? { email: verified.email } : {}),
      };
    },
  },
  profile: (raw) => readProfile(raw),
});

async function askGithub(url: string, token: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "user-agent": "Posthorn",
    },
    signal: AbortSignal.timeout(answerTimeoutMs),
    cache: "no-store",
    redirect: "error",
  });
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
  return response.json();
}

/** Google signs who it is (OpenID Connect), and says of the address whether it verified it. */
const googleProvider = ({ id, secret, issuer }: ProviderClient): OAuthConfig<Raw> => ({
  id: "google",
  name: "Google",
  type: "oauth",
  clientId: id,
  clientSecret: secret,
  checks: ["pkce", "state", "nonce"],
  httpOptions: { timeout: answerTimeoutMs },
  wellKnown: `${issuer}/.well-known/openid-configuration`,
  authorization: { params: { scope: "openid email profile" } },
  idToken: true,
  profile: ({ email, ...raw }) => readProfile(raw.email_verified === true ? { ...raw, email } : raw),
});

const Profile = z.object({
  sub: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\0]+$/),
  name: z.string().nullish(),
  email: z.string().max(320).nullish(),
});

function readProfile(raw: Raw): { id: string; name: string | null; email: string | null } {
  const { sub, name, email } = Profile.parse(raw);
  return { id: sub, name: name?.replaceAll("\0", "").slice(0, 200) || null, email: email ?? null };
}
