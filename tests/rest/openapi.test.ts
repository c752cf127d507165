import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { workers } from "#db/schema/deliveries";
import { EVENT_TYPES } from "#db/schema/events";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { errorCodesOf, listErrors } from "#server/rest/openapi/faults";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { ANNOUNCED_EVENTS } from "#server/services/webhooks/events/types";
import type { CallOptions, Reply } from "../support/rest";
import { openWorld } from "../support/world";
import { createRouteCalls, nameOf } from "./route-calls";

type Node = Record<string, unknown>;
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: Node; example?: unknown }> };
  responses: Record<string, { content: Record<string, { schema: Node }> }>;
  "x-codeSamples": { label: string; source: string }[];
};
type Document = {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: Record<"schemas" | "responses" | "parameters", Record<string, Node>>;
};

const cronSecret = "the-operator's-secret-0123456789";
const metricsToken = "the-token-of-prometheus-0123456789";
const named = routes.map((route) => [nameOf(route), route] as const);

let document: Document;
const world = await openWorld({ cronSecret, metricsToken });
const { token } = await world.key();
const calls = createRouteCalls(world, await world.otherTeam(), token);
// Valid for the duration of the tests.
const beatAt = new Date(Date.now() + 86_400_000);
await world.deps.db.insert(workers).values({ id: newId(), host: "test", pid: 1, transport: "relay", beatAt });
document = (await world.api("GET", "/api/openapi.json")).body as Document;

const operationOf = ({ method, path }: Route): Operation => {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${method} ${path} is not in the document`);
  return operation;
};

/** A schema without additional properties, so undocumented fields fail. References lead to `$defs`. */
function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== "object" || node === null) return node;
  const closed = Object.fromEntries(
    // The validator does not support Unicode character classes; another test checks that they compile.
    Object.entries(node)
      .filter(([key, part]) => key !== "pattern" || !/\\p\{/i.test(String(part)))
      .map(([key, part]) =>
        key === "$ref"
          ? [key, String(part).replace("#/components/schemas/", "#/$defs/")]
          : [key, close(part)],
      ),
  );
  return "properties" in closed && !("additionalProperties" in closed)
    ? { ...closed, additionalProperties: false }
    : closed;
}

/** Adds the schemas of the document to which a closed schema refers, directly or not. */
function addDefinitions(schema: unknown, definitions: Node): Node {
  for (const [, name = ""] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
    if (name in definitions) continue;
    definitions[name] = close(document.components.schemas[name]);
    addDefinitions(definitions[name], definitions);
  }
  return definitions;
}

/** Creating a validator takes longer than its use, and many responses have the same schema. */
const validators = new Map<string, z.ZodType>();

function validatorOf(schema: Node): z.ZodType {
  const key = JSON.stringify(schema);
  const known = validators.get(key);
  if (known) return known;
  const closed = close(schema) as Node;
  const whole = { ...closed, $defs: addDefinitions(closed, {}) };
  const validator = z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(key, validator);
  return validator;
}

/** Validates a value against a schema of the document. */
function readBy(schema: Node, value: unknown): void {
  const read = validatorOf(schema).safeParse(value);
  expect(read.success ? [] : read.error.issues).toEqual([]);
}

/** All objects in a part of the document that have this field, from the outermost. */
function nodesWith(part: unknown, field: string): Node[] {
  if (typeof part !== "object" || part === null) return [];
  const inside = Object.values(part).flatMap((value) => nodesWith(value, field));
  return field in part ? [part as Node, ...inside] : inside;
}

const _propertyOf = (schema: Node, name: string): unknown => {
  const [owner] = nodesWith(schema, "properties");
  return (owner?.properties as Node | undefined)?.[name];
};

function expectResponse(route: Route, { status, body, headers, text: raw }: Reply): void {
  expect({ status, raw: status < 400 ? "" : raw }).toEqual({ status: route.status, raw: "" });
  const content = operationOf(route).responses[status]?.content ?? {};
  const type = (headers["content-type"] ?? "").split(";", 1)[0] ?? "";
  if (!route.response) return;
  expect(Object.keys(content)).toEqual([type]);
  readBy(content[type]?.schema ?? {}, body);
}

describe("the document", () => {
  test("is valid OpenAPI 3.1 according to an independent validator", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  test("has every declared route and no other", () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).toEqual(routes.map(nameOf).sort());
  });

  test("gives each operation a unique id and a described tag", () => {
    const operations = routes.map(operationOf);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const explained = document.tags.filter(({ description }) => description !== "").map(({ name }) => name);
    for (const { tags } of operations) for (const tag of tags) expect(explained).toContain(tag);
  });

  test("has only patterns that other JSON Schema validators can compile", () => {
    const found = JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g);
    const patterns = new Set(Array.from(found, ([, pattern = '""']) => pattern));
    expect(patterns.size).toBeGreaterThan(0);
    for (const pattern of patterns) expect(() => new RegExp(JSON.parse(pattern), "u")).not.toThrow();
  });

  test("documents the rate-limit headers of every response, and the exact three bodies of the specification", () => {
    const resolveResponse = (response: unknown): unknown => {
      const name = String((response as Node).$ref ?? "").replace("#/components/responses/", "");
      return name === "" ? response : document.components.responses[name];
    };
    for (const route of routes)
      for (const response of Object.values(operationOf(route).responses))
        expect(resolveResponse(response)).toMatchObject({
          headers: {
            "X-RateLimit-Limit": expect.anything(),
            "X-RateLimit-Remaining": expect.anything(),
            "X-RateLimit-Reset": expect.anything(),
          },
        });
    readBy({ $ref: "#/components/schemas/Unauthorized" }, { error: "Unauthorized" });
    readBy({ $ref: "#/components/schemas/Forbidden" }, { error: "Insufficient API key permissions" });
    readBy({ $ref: "#/components/schemas/RateLimited" }, { error: "Rate limit exceeded", retryAfter: 7 });
    for (const route of routes.filter(({ access }) => typeof access === "object")) {
      const { responses } = operationOf(route);
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining(["401", "403", "422", "429", "500", "503"]),
      );
      const withReason = Object.keys(responses).filter(
        (status) => "X-Backstamp-Reason" in (resolveResponse(responses[status]) as { headers: Node }).headers,
      );
      expect(withReason).toEqual(["403"]);
    }
  });
});

test.each(named)("%s responds to its example as declared", async (_, route) => {
  const { example = {} } = route;
  const operation = operationOf(route);
  if (route.body || route.accepts) expect(example.body, "an example of the body").toBeDefined();
  if (route.query && !route.body) expect(example.query, "an example of the query").toBeDefined();
  for (const { schema, example: documented } of Object.values(operation.requestBody?.content ?? {})) {
    expect(documented).toEqual(example.body);
    readBy(schema, documented);
  }
  const query = new URLSearchParams(example.query).toString();
  const path = await calls.pathOf(route, token);
  await calls.queryOf(route);
  const options: CallOptions = {
    ...(route.accepts ? { raw: String(example.body) } : example.body ? { body: example.body } : {}),
    headers: { ...(route.accepts ? { "content-type": route.accepts } : {}), ...example.headers },
  };
  const bearer = calls.bearerOf(route, token);
  const reply = await world.api(route.method, query === "" ? path : `${path}?${query}`, {
    ...options,
    ...(bearer === undefined ? {} : { token: bearer }),
  });
  expectResponse(route, reply);
  expect(new Set(errorCodesOf(route)).size).toBe(errorCodesOf(route).length);
});

test("error responses have their declared schemas, with every kind of access", async () => {
  const kinds = new Map(
    routes.map((route) => [typeof route.access === "object" ? "key" : route.access, route]),
  );
  expect(kinds.size).toBeGreaterThan(3);
  for (const route of kinds.values()) {
    const path = await calls.pathOf(route, token);
    const bearer = calls.bearerOf(route, token);
    const refused = [
      await world.api(route.method, path),
      await world.api(route.method, `${path}?unheard_of=1`, bearer === undefined ? {} : { token: bearer }),
    ];
    for (const { status, body } of refused.filter((reply) => reply.status >= 400)) {
      const response = operationOf(route).responses[status] as Node | undefined;
      const name = String(response?.$ref).replace("#/components/responses/", "");
      const { content } = (document.components.responses[name] ?? {}) as {
        content?: Record<string, { schema: Node }>;
      };
      readBy(content?.["application/json"]?.schema ?? { not: {} }, body);
    }
  }
});

describe("the events of webhooks", () => {
  test("are all that Backstamp sends, each with a payload that has its schema", () => {
    const sent = [...EVENT_TYPES, ...ANNOUNCED_EVENTS];
    expect(Object.keys(document.webhooks).sort()).toEqual([...sent].sort());
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const { schema, example } = post?.requestBody?.content["application/json"] ?? { schema: {} };
      expect(example).toMatchObject({ type, created_at: expect.any(String), data: expect.any(Object) });
      readBy(schema, example);
      expect(post?.summary).toMatch(/^[A-Z].*\.$/);
    }
  });
});

test("every error of the routes is listed", () => {
  const listed = listErrors().map(({ status, name }) => `${status} ${name}`);
  for (const { status, wireName } of routes.flatMap(errorCodesOf).map((code) => new AppError(code, "")))
    expect(listed).toContain(`${status} ${wireName}`);
});
