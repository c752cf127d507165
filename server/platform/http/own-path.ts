import { parseUrl } from "../egress/parse-url";

const HOME = "/console";
/** The end of a sign-in that has its own window. */
const OWN_WINDOW_END = "/login/return";

/**
 * The redirect target after sign-in or sign-out: the path and query of `wanted` if it is a page of this
 * installation, else the console. It uses the URL parser of browsers, so `//host`, `/\host` and tabs between
 * them count as other hosts.
 */
export function resolveRedirectPath(wanted: string | null | undefined, origin: string): string {
  const url = parseUrl(wanted ?? HOME, origin);
  if (url === null) return HOME;
  const isOurs = url.origin === new URL(origin).origin && url.username === "" && url.password === "";
  // A browser would read a path with two leading slashes as a host.
  if (!isOurs || /^\/[/\\]/.test(url.pathname)) return HOME;
  if (/^\/(api|login)(\/|$)/.test(url.pathname) && url.pathname !== OWN_WINDOW_END) return HOME;
  return `${url.pathname}${url.search}`;
}
