const HOME = "/console";

/**
 * The redirect target after sign-in or sign-out: the path and query of `wanted` if it is a page of this installation, else
 * the console. It uses the URL parser of browsers, so `//host`, `/\host` and tabs between them count as other hosts.
 */
export function resolveRedirectPath(wanted: string | null | undefined, origin: string): string {
  const base = new URL(origin);
  let url: URL;
  try {
    url = new URL(wanted ?? HOME, base);
  } catch {
    return HOME;
  }
  const isOurs = url.origin === base.origin && url.username === "" && url.password === "";
  // A browser would read a path with two leading slashes as a host.
  if (!isOurs || /^\/[/\\]/.test(url.pathname) || /^\/(api|login)(\/|$)/.test(url.pathname)) return HOME;
  return `${url.pathname}${url.search}`;
}
