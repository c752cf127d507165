import type { Route } from "./route";

/** The route of a request, or null; the variables of its path; and all methods that the path supports. */
export type Match = { route: Route | null; params: Record<string, string>; allowed: readonly string[] };

export type Find = (method: string, pathname: string) => Match;

/** All routes of one path. */
type PathEntry = { parts: string[]; variables: number; byMethod: Map<string, Route>; allowed: string[] };

/** Resend paths that this service does not have. They return 404, not the error for an invalid id. */
const RESERVED = new Set(["/api/emails/receiving", "/api/domains/claim"]);

const NO_MATCH: Match = { route: null, params: {}, allowed: [] };

/**
 * Builds the lookup from method and path to route. Paths match exactly: a double slash, a trailing slash or
 * an encoded letter is another path, except a trailing slash of a link in an email. A literal segment takes
 * precedence over a variable one.
 */
export function compileRoutes(routes: readonly Route[]): Find {
  const entries = new Map<string, PathEntry>();
  const add = (route: Route, path: string): void => {
    const parts = path.split("/");
    const entry: PathEntry = entries.get(path) ?? {
      parts,
      variables: parts.filter(isVariable).length,
      byMethod: new Map(),
      allowed: [],
    };
    entries.set(path, entry);
    entry.byMethod.set(route.method, route);
    entry.allowed.push(...(route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
  };
  for (const route of routes) {
    add(route, route.path);
    if (route.isLink) add(route, `${route.path}/`);
  }
  const variable = [...entries.values()]
    .filter(({ variables }) => variables > 0)
    .sort((a, b) => a.variables - b.variables);

  return (method, pathname) => {
    const routeMethod = method === "HEAD" ? "GET" : method;
    const same = entries.get(pathname);
    if (same?.variables === 0)
      return { route: same.byMethod.get(routeMethod) ?? null, params: {}, allowed: same.allowed };
    if (RESERVED.has(pathname)) return NO_MATCH;
    const segments = pathname.split("/");
    for (const { parts, byMethod, allowed } of variable) {
      const params = readParams(parts, segments);
      if (params) return { route: byMethod.get(routeMethod) ?? null, params, allowed };
    }
    return NO_MATCH;
  };
}

const isVariable = (part: string): boolean => part.startsWith("{");

function readParams(parts: string[], segments: string[]): Record<string, string> | null {
  if (parts.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? "";
    if (isVariable(part)) {
      const value = decode(segment);
      if (!value) return null;
      params[part.slice(1, -1)] = value;
    } else if (part !== segment) return null;
  }
  return params;
}

/** The decoded text of a segment, or null if it is malformed or contains a NUL character. */
function decode(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
