/** Below `/api`, what belongs to the console and its login session: Next answers it. */
const CONSOLE_ROUTES = /^\/api\/(auth|trpc)(?=[/?]|$)/;
const REST = /^\/api(?=[/?]|$)/;
const PLAIN = /^\/api(\/[A-Za-z0-9_-]+)+(\?[A-Za-z0-9_=&%.+-]*)?$/;

/**
 * The path and query under which the REST door answers a request line, or null where Next does. Knows every form of
 * RFC 9112 section 3.2, resolves dot segments, keeps doubled slashes and broken percent-encoding as they came, and at
 * `apiHost` reads every path as one of the REST surface. Never throws.
 */
export function findRestTarget(
  target: string,
  hostHeader: string | undefined,
  apiHost: string | null,
): string | null {
  if (apiHost === null && PLAIN.test(target)) return CONSOLE_ROUTES.test(target) ? null : target;
  const { host, path } = splitTarget(target);
  const isApiHost = apiHost !== null && hostNameOf(host ?? hostHeader ?? "") === apiHost;
  if (REST.test(path)) return CONSOLE_ROUTES.test(path) ? null : path;
  if (isApiHost) return `/api${path === "/" ? "" : path}`;
  // `OPTIONS *` asks about the server, and nothing but a page server would answer it otherwise.
  return target === "*" ? "/api" : null;
}

function splitTarget(target: string): { host: string | null; path: string } {
  const [, absoluteHost, absolutePath] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  const given = absolutePath ?? target;
  const slashed = given.startsWith("/") ? given : `/${given}`;
  // A backslash is no slash here, whatever the URL standard says for browsers.
  const query = slashed.indexOf("?");
  const end = query === -1 ? slashed.length : query;
  const url = new URL(
    `http://localhost${slashed.slice(0, end).replaceAll("\\", "%5C")}${slashed.slice(end)}`,
  );
  return { host: absoluteHost ?? null, path: `${url.pathname}${url.search}` };
}

const hostNameOf = (host: string): string => host.replace(/^.*@/, "").replace(/:\d*$/, "").toLowerCase();
