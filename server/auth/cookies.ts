/** The part of a cookie jar that is read here: of a request, or of the page that is rendered. */
export type Cookies = { get(name: string): { value: string } | undefined };

// Browsers accept a `__Host-` cookie only over TLS, from the host itself, and for all of its paths.
const cookieName = (url: string, name: string) =>
  url.startsWith("https:") ? `__Host-backstamp.${name}` : `backstamp.${name}`;

/** The cookie with the session token. */
export const sessionCookieName = (url: string): string => cookieName(url, "session");

/** The cookie with the token of an open 2FA challenge. */
export const twoFactorCookieName = (url: string): string => cookieName(url, "step");

/** The cookie that marks a browser in which a user has signed in before. */
export const deviceCookieName = (url: string): string => cookieName(url, "device");

const stepLifetimeSeconds = 5 * 60;
/** Lifetime of the device cookie in seconds. */
export const deviceSeconds = 365 * 24 * 60 * 60;

/** The Set-Cookie header that stores the token of a 2FA challenge; null deletes the cookie. */
export const twoFactorCookie = (url: string, token: string | null): string =>
  write(url, twoFactorCookieName(url), token ?? "", token === null ? 0 : stepLifetimeSeconds);

/** The Set-Cookie header that stores the device token. */
export const deviceCookie = (url: string, token: string): string =>
  write(url, deviceCookieName(url), token, deviceSeconds);

function write(url: string, name: string, value: string, maxAgeSeconds: number): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
