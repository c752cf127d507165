/*
 * What the pages of the API reference read: the OpenAPI document and the list of errors, both created from
 * the routes.
 */

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: Schema;
  example?: string;
};

type Content = Record<string, { schema: Schema; example?: unknown }>;
type Response = { description: string; headers?: Record<string, unknown>; content?: Content };
type Sample = { label: string; lang: string; source: string };

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response | { $ref: string }>;
  "x-codeSamples": Sample[];
};

type Event = { post: { summary: string; requestBody: { content: Content } } };

export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Event>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    parameters: Record<string, Parameter>;
    headers: Record<string, { description: string; schema: Schema }>;
  };
};

/** An error of the API. `operations` are the methods and paths that can respond with it. */
export type ListedError = {
  code: string;
  name: string;
  status: number;
  reason: string;
  action: string;
  schema: string;
  operations: string[];
};

export type ApiSource = { document: ApiDocument; errors: readonly ListedError[] };

/** An operation with its method and path, and the name of its page. */
export type PlacedOperation = Operation & { method: string; path: string; page: string };

/**
 * Every operation, in the order of the routes. The page is named by the first segment of the path below
 * `/api`.
 */
export const listOperations = ({ paths }: ApiDocument): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      page: (path.split("/")[2] ?? "").replace(/\.json$/, ""),
    })),
  );

/** A part of the document, or the one in the components to which it refers. */
export function resolve<T extends object>(document: ApiDocument, part: T | { $ref: string }): T {
  if (!("$ref" in part) || typeof part.$ref !== "string") return part as T;
  const [, , kind = "", ...name] = part.$ref.split("/");
  const parts = document.components[kind as keyof ApiDocument["components"]] as Record<string, unknown>;
  const found = parts[name.join("/")];
  if (!found) throw new Error(`${part.$ref} is not in the document`);
  return found as T;
}

export const parametersIn = (
  document: ApiDocument,
  operation: Operation,
  place: Parameter["in"],
): Parameter[] =>
  operation.parameters
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === place);

/** The responses with a status below 400. */
export const successesOf = (document: ApiDocument, operation: Operation): [status: string, Response][] =>
  Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, response]) => [status, resolve<Response>(document, response)]);

/** The errors of an operation, by status. */
export const errorsOf = (errors: readonly ListedError[], { method, path }: PlacedOperation): ListedError[] =>
  errors.filter(({ operations }) => operations.includes(`${method} ${path}`));

/** What a caller sends as bearer token: an API key, a secret of the operator, or nothing. */
export const bearerOf = ({ security }: Operation): "API key" | "Operator's secret" | null => {
  const [required] = security;
  return required === undefined ? null : "key" in required ? "API key" : "Operator's secret";
};

/** The scope that the API key of an operation needs; null if the operation has no API key. */
export const scopeOf = ({ security }: Operation): string | null => security[0]?.key?.[0] ?? null;
