import type { Route } from "./route";

/** The route of a request, if there is one, with the path's variables; and the methods that the path has at all. */
export type Match = { route: Route | null; params: Record<string, string>; allowed: readonly string[] };

export type Find = (method: string, pathname: string) => Match;

/** All routes of one path. */
type Place = { parts: string[]; byMethod: Map<string, Route>; allowed: string[] };

/** Words of the dialect that stand where an id would, for what is not here: they are no broken ids. */
const RESERVED = new Set(["/api/emails/metrics", "/api/emails/receiving", "/api/domains/claim"]);

const NOWHERE: Match = { route: null, params: {}, allowed: [] };

/**
 * Makes the table by which requests find their route. Paths are matched exactly as they are written: a doubled slash, a
 * slash at the end, or an encoded letter is another path. A literal segment wins over a variable one.
 */
export function compileRoutes(routes: readonly Route[]): Find {
  const places = new Map<string, Place>();
  for (const route of routes) {
    const place: Place = places.get(route.path) ?? {
      parts: route.path.split("/"),
      byMethod: new Map(),
      allowed: [],
    };
    places.set(route.path, place);
    place.byMethod.set(route.method, route);
    place.allowed.push(...(route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
  }
  const variable = [...places.values()]
    .filter(({ parts }) => parts.some(isVariable))
    .sort((a, b) => a.parts.filter(isVariable).length - b.parts.filter(isVariable).length);

  return (method, pathname) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const literal = places.get(pathname);
    if (literal && !literal.parts.some(isVariable)) return matchOf(literal, wanted, {});
    if (RESERVED.has(pathname)) return NOWHERE;
    const segments = pathname.split("/");
    for (const place of variable) {
      const params = readParams(place.parts, segments);
      if (params) return matchOf(place, wanted, params);
    }
    return NOWHERE;
  };
}

const isVariable = (part: string): boolean => part.startsWith("{");

const matchOf = ({ byMethod, allowed }: Place, method: string, params: Record<string, string>): Match => ({
  route: byMethod.get(method) ?? null,
  params,
  allowed,
});

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

/** One segment's text, or null where it holds what no text may. */
function decode(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
