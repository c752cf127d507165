import type { Route } from "#server/rest/pipeline/route";
import { nameOf } from "../rest/route-calls";
import { type Field, fieldsOf, withField } from "../support/database/schema-fields";
import type { CallOptions } from "../support/rest";
import type { Mutation, Plan } from "./plans";
import { goodValuesFor, takes } from "./values";

/** A request as it is sent. */
export type Request = {
  method: string;
  path: string;
  query: [name: string, value: string][];
  /** JSON unless `raw` is set. */
  body: unknown;
  raw?: string | Uint8Array;
  headers: Record<string, string>;
  /** Header lines that no client library would send. */
  lines?: string;
  /** Whether it no longer calls the route that it began with. */
  isElsewhere: boolean;
};

type Place = { body: Field[]; query: Field[] };
const places = new Map<string, Place>();

function placesOf(route: Route): Place {
  const name = nameOf(route);
  const known = places.get(name);
  if (known) return known;
  const place = { body: fieldsOf(route.bodyShape ?? route.body), query: fieldsOf(route.query) };
  places.set(name, place);
  return place;
}

const pickOf = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];

/** The request that a plan describes, made from a valid one. */
export function makeRequest(route: Route, plan: Plan, target: string, good: CallOptions): Request {
  const [path = "", query] = target.split("?");
  const request: Request = {
    method: route.method,
    path,
    query: [...new URLSearchParams(query)],
    body: good.body,
    headers: { ...(good.headers as Record<string, string> | undefined) },
    isElsewhere: false,
    ...(good.raw !== undefined && { raw: good.raw }),
  };
  for (const mutation of plan.mutations) apply(mutation, request, route);
  return request;
}

function apply(mutation: Mutation, request: Request, route: Route): void {
  const { body: bodyFields, query: queryFields } = placesOf(route);
  switch (mutation.kind) {
    case "other good value": {
      const field = pickOf(mutation.part === "body" ? bodyFields : queryFields, mutation.at);
      if (!field) return;
      const value = pickOf(goodValuesFor(field), mutation.pick);
      // A field that exists to be rejected, such as `broadcast_id`, has no good value.
      if (value === undefined) return;
      if (mutation.part === "query") {
        const query = [...request.query.filter(([name]) => name !== field.path[0]), [field.path[0], value]];
        if (takes(route.query, Object.fromEntries(query))) request.query = query as Request["query"];
        return;
      }
      const body = withField(request.body, field.path, value);
      if (takes(route.bodyShape ?? route.body, body)) request.body = body;
      return;
    }
    case "odd value": {
      const field = pickOf(bodyFields, mutation.at);
      if (field) request.body = withField(request.body, field.path, mutation.value);
      return;
    }
    case "odd query": {
      const field = pickOf(queryFields, mutation.at);
      const one: [string, string] = [String(field?.path[0] ?? "unheard_of"), mutation.text];
      request.query.push(one, ...(mutation.twice ? [one] : []));
      return;
    }
    case "without a field": {
      const names = Object.keys((request.body as object | undefined) ?? {});
      const name = pickOf(names, mutation.at);
      if (name !== undefined && !Array.isArray(request.body))
        request.body = Object.fromEntries(
          Object.entries(request.body as object).filter(([each]) => each !== name),
        );
      return;
    }
    case "one field more":
      request.body = withField(request.body, [mutation.name], mutation.value);
      return;
    case "odd path": {
      const parts = request.path.split("/");
      const variable = route.path.split("/").flatMap((part, index) => (part.startsWith("{") ? [index] : []));
      const index = pickOf(variable, mutation.at) ?? parts.length;
      parts[index] = mutation.isEncoded ? encode(mutation.text) : mutation.text;
      request.path = parts.join("/");
      request.isElsewhere = true;
      return;
    }
    case "another path":
      request.path = mutation.path;
      request.isElsewhere = true;
      return;
    case "odd header":
      request.headers[mutation.name] = mutation.value;
      return;
    case "odd lines":
      request.lines = mutation.text;
      return;
    case "another body":
      request.raw = mutation.raw;
      if (mutation.type !== null) request.headers["content-type"] = mutation.type;
      return;
    case "half of the body": {
      const text = JSON.stringify(request.body) ?? "";
      if (text !== "") request.raw = text.slice(0, text.length / 2);
      return;
    }
    case "another method":
      request.method = mutation.method;
      request.isElsewhere = true;
      return;
  }
}

/** Percent-encodes everything that is not allowed in a URL, lone surrogates as the replacement character. */
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));

/** The path and query of a request line: only allowed bytes, no space. */
export function targetOf({ path, query }: Request): string {
  const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  const safe = path.replace(/[^\x21-\x7e\x80-\xff]/gu, encode);
  // Every server rejects longer lines before a handler reads them.
  return `${safe}${search === "" ? "" : `?${search}`}`.slice(0, 12_000);
}
