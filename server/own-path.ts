const HOME = "/console";

/**
 * Where to go after signing in, or out: the path and query of `wanted` where it leads to a page of ours, else the console.
 * Judged by the parser that browsers use, so `//host`, `/\host` and tabs between them are seen for what they are.
 */
export function ownPath(wanted: string | null | undefined, origin: string): string {
  const base = new URL(origin);
  let url: URL;
  try {
    url = new URL(wanted ?? HOME, base);
  } catch {
    return HOME;
  }
  const isOurs = url.origin === base.origin && url.username === "" && url.password === "";
  // A path that starts with two slashes would name a host when it stands alone.
  if (!isOurs || /^\/[/\\]/.test(url.pathname) || /^\/(api|login)(\/|$)/.test(url.pathname)) return HOME;
  return `${url.pathname}${url.search}`;
}
