/** As far as a cookie jar is read: of a request, or of the page being rendered. */
export type Cookies = { get(name: string): { value: string } | undefined };

// A browser takes a `__Host-` cookie only over TLS, for the whole host and from nobody else.
const named = (url: string, name: string) =>
  url.startsWith("https:") ? `__Host-posthorn.${name}` : `posthorn.${name}`;

/** Holds the token of a session. */
export const sessionCookieName = (url: string): string => named(url, "session");

/** Holds the token of a second step that is owed. */
export const stepCookieName = (url: string): string => named(url, "step");

const stepLifetimeSeconds = 5 * 60;

/** Gives a browser the token of a second step, or takes it back with null: the text of a Set-Cookie header. */
export function stepCookie(url: string, token: string | null): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  const maxAge = token === null ? 0 : stepLifetimeSeconds;
  return `${stepCookieName(url)}=${token ?? ""}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}
