import type { OAuthConfig } from "next-auth/providers/oauth";
import { z } from "zod";
import type { SignInProvider } from "#db/schema/account";
import { discoveryUrl, isSameIssuer } from "#server/platform/http/oidc-issuer";

const responseTimeoutMs = 8_000;

/**
 * An OAuth client at a provider: its credentials, the provider's issuer URL, and its API URL if that is
 * different.
 */
export type ProviderClient = { id: string; secret: string; issuer: string; api: string };

/**
 * A client at an OpenID provider, with the name of the button. `trustsEmail`: an address without the claim
 * `email_verified` counts as verified.
 */
export type OidcClient = { id: string; secret: string; issuer: string; name: string; trustsEmail: boolean };

/** The configured providers. */
export type ProviderClients = Partial<
  Record<Exclude<SignInProvider, "oidc">, ProviderClient> & { oidc: OidcClient }
>;

const URLS: Record<Exclude<SignInProvider, "oidc">, { issuer: string; api: string }> = {
  github: { issuer: "https://github.com", api: "https://api.github.com" },
  google: { issuer: "https://accounts.google.com", api: "" },
};

type Credentials = { id: string; secret: string } | null;

/** The configured providers, with their public URLs. */
export function providerClients({
  github,
  google,
  oidc,
}: {
  github: Credentials;
  google: Credentials;
  oidc: OidcClient | null;
}): ProviderClients {
  return {
    ...(github ? { github: { ...github, ...URLS.github } } : {}),
    ...(google ? { google: { ...google, ...URLS.google } } : {}),
    ...(oidc ? { oidc } : {}),
  };
}

type Raw = Record<string, unknown>;

/**
 * The next-auth configuration of each configured provider. `state` and PKCE (RFC 7636) bind a response to the
 * browser that started the sign-in, and for signed responses also a nonce. A profile contains the email
 * address only if it is verified.
 */
export const oauthProviders = ({ github, google, oidc }: ProviderClients): OAuthConfig<Raw>[] => [
  ...(github ? [githubProvider(github)] : []),
  ...(google ? [googleProvider(google)] : []),
  ...(oidc ? [oidcProvider(oidc)] : []),
];

const commonOptions = (clientId: string, clientSecret: string) => ({
  type: "oauth" as const,
  clientId,
  clientSecret,
  httpOptions: { timeout: responseTimeoutMs },
});

const GithubUser = z.object({ id: z.int(), login: z.string(), name: z.string().nullish() });
const GithubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** GitHub supports only OAuth 2, so the user and the verified email address are read from its API. */
const githubProvider = ({ id, secret, issuer, api }: ProviderClient): OAuthConfig<Raw> => ({
  ...commonOptions(id, secret),
  id: "github",
  name: "GitHub",
  checks: ["pkce", "state"],
  authorization: { url: `${issuer}/login/oauth/authorize`, params: { scope: "read:user user:email" } },
  token: `${issuer}/login/oauth/access_token`,
  userinfo: {
    url: `${api}/user`,
    request: async ({ tokens }) => {
      const token = tokens.access_token ?? "";
      const [user, emails] = await Promise.all([
        fetchFromGithub(`${api}/user`, token).then((body) => GithubUser.parse(body)),
        fetchFromGithub(`${api}/user/emails`, token).then((body) => GithubEmails.parse(body)),
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

async function fetchFromGithub(url: string, token: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "user-agent": "Backstamp",
    },
    signal: AbortSignal.timeout(responseTimeoutMs),
    cache: "no-store",
    redirect: "error",
  });
  if (!response.ok) throw new Error(`GitHub returned status ${response.status}`);
  return response.json();
}

/** Google returns a signed ID token (OpenID Connect), which states whether the email address is verified. */
const googleProvider = ({ id, secret, issuer }: ProviderClient): OAuthConfig<Raw> => ({
  ...commonOptions(id, secret),
  id: "google",
  name: "Google",
  checks: ["pkce", "state", "nonce"],
  wellKnown: `${issuer}/.well-known/openid-configuration`,
  authorization: { params: { scope: "openid email profile" } },
  idToken: true,
  profile: ({ email, ...raw }) => readProfile(raw.email_verified === true ? { ...raw, email } : raw),
});

/**
 * Any OpenID provider, by discovery at each sign-in: an issuer that does not respond affects nothing else.
 * The ID token must be of exactly the configured issuer, also if the discovery document names another one
 * (OpenID Connect Discovery 1.0, section 4.3).
 */
const oidcProvider = ({ id, secret, issuer, name, trustsEmail }: OidcClient): OAuthConfig<Raw> => ({
  ...commonOptions(id, secret),
  id: "oidc",
  name,
  checks: ["pkce", "state", "nonce"],
  wellKnown: discoveryUrl(issuer),
  authorization: { params: { scope: "openid email profile" } },
  idToken: true,
  userinfo: {
    request: async ({ tokens, client }) => {
      const set = tokens as Exclude<Parameters<typeof client.userinfo>[0], string>;
      const { iss, sub, ...claims } = set.claims();
      if (!isSameIssuer(iss, issuer)) throw new Error("the ID token is of another issuer");
      // Some issuers name the address only at the userinfo endpoint. The client verifies the subject of its
      // response.
      const isComplete = claims.email !== undefined || !client.issuer.metadata.userinfo_endpoint;
      const { name, email, email_verified } = Claims.parse(isComplete ? claims : await client.userinfo(set));
      // Amazon Cognito sends the claim as text.
      const isVerified =
        email_verified === undefined ? trustsEmail : email_verified === true || email_verified === "true";
      return { sub, ...(name && { name }), ...(isVerified && email && { email }) };
    },
  },
  profile: (raw) => readProfile(raw),
});

const Claims = z.object({
  name: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.union([z.boolean(), z.string()]).optional(),
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
