/* What the pages of the API reference read of the OpenAPI document. */

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
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { content: Content };
  responses: Record<string, Response | { $ref: string }>;
  "x-codeSamples": { label: string; lang: string; source: string }[];
};

export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { summary: string; requestBody: { content: Content } } }>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    parameters: Record<string, Parameter>;
    headers: Record<string, { description: string; schema: Schema }>;
  };
};

/** An error of the API: when it occurs, what to do, and the schema of its body. */
export type ListedError = { name: string; status: number; reason: string; action: string; schema: string };

/** A part of the document, or the one in the components to which it refers. */
export function resolve<T extends object>(document: ApiDocument, part: T | { $ref: string }): T {
  if (!("$ref" in part) || typeof part.$ref !== "string") return part as T;
  const [, , kind = "", ...name] = part.$ref.split("/");
  const parts = document.components[kind as keyof ApiDocument["components"]] as Record<string, unknown>;
  const found = parts[name.join("/")];
  if (!found) throw new Error(`${part.$ref} is not in the document`);
  return found as T;
}
