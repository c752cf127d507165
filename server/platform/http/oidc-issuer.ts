/** The URL of the metadata of an OpenID provider (OpenID Connect Discovery 1.0, section 4). */
export const discoveryUrl = (issuer: string): string =>
  `${withoutSlash(issuer)}/.well-known/openid-configuration`;

/** Whether two issuer URLs are equal. A slash at the end does not count: operators leave it out. */
export const isSameIssuer = (one: string, other: string): boolean =>
  withoutSlash(one) === withoutSlash(other);

const withoutSlash = (url: string): string => (url.endsWith("/") ? url.slice(0, -1) : url);

/** The path of the redirect URI of a sign-in provider, below the public URL. */
export const redirectPath = (provider: string): string => `/api/auth/callback/${provider}`;
