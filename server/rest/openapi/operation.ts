import type { ErrorCode } from "#server/platform/errors";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";
import type { Access, Route } from "../pipeline/route";
import { byStatus, describeStatus, errorCodesOf, errorSchemaOf } from "./faults";
import { sampleValueOf } from "./sample-call";
import { samplesOf } from "./samples";
import { type Components, jsonSchemaOf, type Schema } from "./schema";

/** Headers of every response, by their names in `components`. */
const ALWAYS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"] as const;

/** Further headers of some statuses. */
const OWN_HEADERS: Record<number, readonly string[]> = {
  403: ["X-Backstamp-Reason"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

const headersOf = (more: readonly string[] = []) =>
  Object.fromEntries(
    [...ALWAYS, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );

/**
 * Converts a route to an OpenAPI operation with this tag. Adds its named schemas and responses to
 * `components`.
 */
export function operationOf(route: Route, tag: string, components: Components): Schema {
  const { access, summary } = route;
  return {
    operationId: operationIdOf(route),
    tags: [tag],
    summary,
    description: descriptionOf(route),
    security:
      access === "public" ? [] : [typeof access === "object" ? { key: [access.scope] } : { operator: [] }],
    parameters: parametersOf(route, components),
    ...requestBodyOf(route, components),
    responses: {
      [route.status]: {
        description: "Success.",
        headers: headersOf(route.idempotent ? ["Idempotent-Replayed"] : []),
        content: contentOf(route, components),
      },
      ...Object.fromEntries(
        byStatus(errorCodesOf(route)).map(([status, codes]) => [
          status,
          errorResponseOf(status, codes, components),
        ]),
      ),
    },
    "x-codeSamples": samplesOf(route),
  };
}

/** A reference to an error response. Routes share them in the components. */
function errorResponseOf(status: number, codes: readonly ErrorCode[], { responses }: Components): Schema {
  const name = [status, ...codes].join(".");
  responses[name] ??= {
    description: describeStatus(codes),
    headers: headersOf(OWN_HEADERS[status]),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${errorSchemaOf(status)}` } } },
  };
  return { $ref: `#/components/responses/${name}` };
}

/** `GET /api/emails/{id}` is `getEmailsById`. */
function operationIdOf({ method, path }: Route): string {
  const words = path
    .split("/")
    .slice(2)
    .map((part) => (part.startsWith("{") ? `by-${part.slice(1, -1)}` : part))
    .join("-")
    .split(/[-_.]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase() + words.join("");
}

/** Descriptions of the access rules with a secret of the operator. */
const OPERATORS: Record<Exclude<Access, "public" | object>, string> = {
  "operator-token":
    "For the operator. Requires the secret in `CRON_SECRET` as bearer token; returns 404 if none is configured.",
  "inbound-token":
    "For the operator. Requires the token printed by `backstamp inbound token` as bearer token.",
  "metrics-token":
    "For the operator. Requires the token in `BACKSTAMP_METRICS_TOKEN` as bearer token; returns 404 if none is configured.",
};

function descriptionOf({ access, tier, description }: Route): string {
  const accessText =
    access === "public"
      ? "Public: requires no key."
      : typeof access === "object"
        ? `Requires a key with the scope \`${access.scope}\`.`
        : OPERATORS[access];
  const limit =
    tier === "none"
      ? "Not rate limited."
      : `Default rate limit: ${LIMIT_PER_MINUTE[tier]} calls per minute${tier === "other" ? ", shared by all operations without their own limit" : ""}.`;
  return [description, accessText, typeof access === "object" || tier === "none" ? limit : undefined]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

function parametersOf(route: Route, components: Components): Schema[] {
  const { path, params = {}, headers = {}, query, idempotent, example = {} } = route;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: params[name] ?? describeId(path, name),
    schema: params[name] === undefined ? { type: "string", format: "uuid" } : { type: "string" },
    example: sampleValueOf(name),
  }));
  const { properties = {}, required = [] } = query ? jsonSchemaOf(query, components) : {};
  const parameterOf = (place: "query" | "header", name: string, { description, ...schema }: Schema) => ({
    name,
    in: place,
    required: place === "query" && (required as string[]).includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
    ...exampleOf((place === "query" ? example.query : example.headers)?.[name]),
  });
  const inQuery = Object.entries(properties as Record<string, Schema>).map(([name, schema]) =>
    parameterOf("query", name, schema),
  );
  const inHeader = Object.entries(headers).map(([name, schema]) =>
    parameterOf("header", name, jsonSchemaOf(schema, components)),
  );
  const forOnce = idempotent ? [{ $ref: "#/components/parameters/Idempotency-Key" }] : [];
  return [...inPath, ...inQuery, ...inHeader, ...forOnce];
}

/** `{id}` is that of the noun before it; any other variable is named by what it identifies. */
function describeId(path: string, name: string): string {
  const before = path.split("/").at(path.split("/").indexOf(`{${name}}`) - 1) ?? "";
  const noun = name === "id" ? before.replace(/s$/, "") : name.replace(/_id$/, "");
  return `The id of the ${NOUNS[noun] ?? noun.replaceAll("_", " ")}.`;
}
const NOUNS: Record<string, string> = { "api-key": "API key", webhook: "endpoint", log: "call" };

const exampleOf = (example: unknown) => (example === undefined ? {} : { example });

function requestBodyOf(route: Route, components: Components): Schema {
  const { accepts = "application/json", acceptsToo = [], body, bodyShape, bodyForm, example = {} } = route;
  const shape = bodyShape ?? body;
  if (!route.accepts && !shape) return {};
  const content = {
    schema: shape ? jsonSchemaOf(shape, components) : { type: "string" },
    ...exampleOf(example.body),
  };
  return {
    requestBody: {
      required: bodyForm !== "optional",
      content: Object.fromEntries([accepts, ...acceptsToo].map((type) => [type, content])),
    },
  };
}

function contentOf({ response, responseType }: Route, components: Components): Schema {
  if (response) return { "application/json": { schema: jsonSchemaOf(response, components) } };
  const type = (responseType ?? "application/octet-stream").split(";", 1)[0] ?? "";
  return { [type]: { schema: type.startsWith("text/") ? { type: "string" } : {} } };
}
