import type { ErrorCode } from "#server/errors";
import { LIMIT_PER_MINUTE } from "#server/limits/limits";
import type { Route } from "../route";
import { byStatus, describeStatus, errorCodesOf, errorSchemaOf } from "./faults";
import { samplesOf, sampleValueOf } from "./samples";
import { type Components, jsonSchemaOf, type Schema } from "./schema";

/** Headers of every answer, by their names in `components`. */
const ALWAYS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"] as const;

const headersOf = (more: readonly string[] = []) =>
  Object.fromEntries(
    [...ALWAYS, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );

/** One route as an OpenAPI operation; `tag` is its noun. What is named goes into `components`. */
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
        description: "It is done as asked.",
        headers: headersOf(route.idempotent ? ["Idempotent-Replayed"] : []),
        content: contentOf(route, components),
      },
      ...Object.fromEntries(
        byStatus(errorCodesOf(route)).map(([status, codes]) => [
          status,
          refusalOf(status, codes, components),
        ]),
      ),
    },
    "x-codeSamples": samplesOf(route),
  };
}

/** Many routes refuse alike, so what they say stands once in the components. */
function refusalOf(status: number, codes: readonly ErrorCode[], { responses }: Components): Schema {
  const name = [status, ...codes].join(".");
  responses[name] ??= {
    description: describeStatus(codes),
    headers: headersOf(status === 429 || status === 503 ? ["Retry-After"] : []),
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

/** Who knows which of the operator's secrets. */
const OPERATORS: Record<"operator-token" | "inbound-token", string> = {
  "operator-token": "For the operator, by the secret of `CRON_SECRET`; without one there is no such path.",
  "inbound-token": "For the operator, by the token that `posthorn inbound token` shows.",
};

function descriptionOf({ access, tier, description }: Route): string {
  const who =
    access === "public"
      ? "Open to anybody."
      : typeof access === "object"
        ? `Needs a key with the scope \`${access.scope}\`.`
        : OPERATORS[access];
  const limit =
    tier === "none"
      ? "Never refused by a limit."
      : `Limit of a key without limits of its own: ${LIMIT_PER_MINUTE[tier]} calls a minute${tier === "other" ? ", together with all calls that have no limit of their own" : ""}.`;
  return [description, who, typeof access === "object" || tier === "none" ? limit : undefined]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

function parametersOf(route: Route, components: Components): Schema[] {
  const { path, params = {}, headers = {}, query, idempotent, example = {} } = route;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...(params[name] === undefined ? {} : { description: params[name] }),
    schema: params[name] === undefined ? { type: "string", format: "uuid" } : { type: "string" },
    example: sampleValueOf(name),
  }));
  const { properties = {}, required = [] } = query ? jsonSchemaOf(query, components) : {};
  const inQuery = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => ({
    name,
    in: "query",
    required: (required as string[]).includes(name),
    ...describedBy(schema),
    ...(example.query?.[name] === undefined ? {} : { example: example.query[name] }),
  }));
  const inHeader = Object.entries(headers).map(([name, schema]) => ({
    name,
    in: "header",
    required: false,
    ...describedBy(jsonSchemaOf(schema, components)),
    ...(example.headers?.[name] === undefined ? {} : { example: example.headers[name] }),
  }));
  const forOnce = idempotent ? [{ $ref: "#/components/parameters/Idempotency-Key" }] : [];
  return [...inPath, ...inQuery, ...inHeader, ...forOnce];
}

const describedBy = ({ description, ...schema }: Schema) => ({
  ...(description === undefined ? {} : { description }),
  schema,
});

function requestBodyOf(route: Route, components: Components): Schema {
  const { accepts = "application/json", acceptsToo = [], body, bodyShape, bodyForm, example = {} } = route;
  const shape = bodyShape ?? body;
  if (!route.accepts && !shape) return {};
  const content = {
    schema: shape ? jsonSchemaOf(shape, components) : { type: "string" },
    ...(example.body === undefined ? {} : { example: example.body }),
  };
  return {
    requestBody: {
      required: bodyForm !== "optional",
      content: Object.fromEntries([accepts, ...acceptsToo].map((type) => [type, content])),
    },
  };
}

function contentOf({ answer, answers }: Route, components: Components): Schema {
  if (answer) return { "application/json": { schema: jsonSchemaOf(answer, components) } };
  const type = (answers ?? "application/octet-stream").split(";", 1)[0] ?? "";
  return { [type]: { schema: type.startsWith("text/") ? { type: "string" } : {} } };
}
