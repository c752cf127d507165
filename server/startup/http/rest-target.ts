import { hostNameOf } from "#server/platform/http/host-name";

/** Routes below `/api` of the console and its login session. Next handles them. */
const CONSOLE_ROUTES = /^\/api\/(auth|trpc)(?=[/?]|$)/;
const REST = /^\/api(?=[/?]|$)/;
const PLAIN = /^\/api(\/[A-Za-z0-9_-]+)+(\?[A-Za-z0-9_=&%.+-]*)?$/;

/**
 * The path and query of a request line for the REST API, or null if Next handles it. Supports all
 * request-target forms of RFC 9112 section 3.2. Resolves dot segments; keeps double slashes and invalid
 * percent-encoding unchanged. At `apiHost`, every path belongs to the REST API. Never throws.
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
  // `OPTIONS *` addresses the server as a whole. Without this line, Next would handle it.
  return target === "*" ? "/api" : null;
}

function splitTarget(target: string): { host: string | null; path: string } {
  const [, absoluteHost, absolutePath] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  const given = absolutePath ?? target;
  const slashed = given.startsWith("/") ? given : `/${given}`;
  // A backslash is not a path separator here, unlike in the URL standard for browsers.
  const query = slashed.indexOf("?");
  const end = query === -1 ? slashed.length : query;
  const url = new URL(
    `http://localhost${slashed.slice(0, end).replaceAll("\\", "%5C")}${slashed.slice(end)}`,
  );
  return { host: absoluteHost ?? null, path: `${url.pathname}${url.search}` };
}
