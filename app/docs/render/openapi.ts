/* What the pages of the API reference read of the OpenAPI document, in which nothing is a reference. */

export type Schema = {
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
  in: string;
  required: boolean;
  description?: string;
  schema: Schema;
};

type Content = Record<string, { schema: Schema; example?: unknown }>;
type Response = { description: string; content?: Content };

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
  "x-codeSamples": { label: string; lang: string; source: string }[];
};

export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { summary: string; requestBody: { content: Content } } }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { description: string; schema: Schema }>;
  };
};

/** An error of the API: when it occurs, what to do, and the schema of its body. */
export type ListedError = { name: string; status: number; reason: string; action: string; schema: string };

/** The document with each part of the components in place of its references. */
export function dereference(document: object): ApiDocument {
  const targetOf = (reference: string): unknown =>
    reference
      .split("/")
      .slice(1)
      .reduce<unknown>((part, name) => Object(part)[name], document);
  const replace = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map(replace);
    const { $ref, ...own } = Object.fromEntries(
      Object.entries(part).map(([name, each]) => [name, name === "$ref" ? each : replace(each)]),
    );
    return typeof $ref === "string" ? { ...Object(replace(targetOf($ref))), ...own } : own;
  };
  return replace(document) as ApiDocument;
}
