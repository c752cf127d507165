/** As far as a cookie jar is read: of a request, or of the page being rendered. */
export type Cookies = { get(name: string): { value: string } | undefined };

// A browser takes a `__Host-` cookie only over TLS, for the whole host and from nobody else.
const named = (url: string, name: string) =>
  url.startsWith("https:") ? `__Host-posthorn.${name}` : `posthorn.${name}`;

/** Holds the token of a session. */
export const sessionCookieName = (url: string): string => named(url, "session");

/** Holds the token of a second step that is owed. */
export const stepCookieName = (url: string): string => named(url, "step");

/** Holds the mark of a browser in which somebody signed in before. */
export const deviceCookieName = (url: string): string => named(url, "device");

const stepLifetimeSeconds = 5 * 60;
/** How long such a mark is good. */
export const deviceSeconds = 365 * 24 * 60 * 60;

/** Gives a browser the token of a second step, or takes it back with null: the text of a Set-Cookie header. */
export const stepCookie = (url: string, token: string | null): string =>
  write(url, stepCookieName(url), token ?? "", token === null ? 0 : stepLifetimeSeconds);

/** Gives a browser that mark. */
export const deviceCookie = (url: string, token: string): string =>
  write(url, deviceCookieName(url), token, deviceSeconds);

function write(url: string, name: string, value: string, maxAgeSeconds: number): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
