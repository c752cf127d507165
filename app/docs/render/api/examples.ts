import { type ApiDocument, type ListedError, type PlacedOperation, resolve, type Schema } from "./document";

const sampleId = "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e";
const sampleAt = "2026-01-01T12:00:00.000Z";

/** Example values of texts and numbers, by the name of their field. */
const VALUES: Record<string, unknown> = {
  address: "delivered@backstamp.test",
  advice: "Remove the address from your list.",
  agent: "resend-node:6.38.0",
  content_type: "application/pdf",
  cursor: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e",
  day: "2026-01-01",
  domain: "example.com",
  download_url: "https://mail.example.com/api/attachments/eyJ…",
  duration_ms: 84,
  email: "gone@example.com",
  endpoint: "https://example.com/hooks",
  filename: "receipt.pdf",
  host: "mx.example.com",
  http_status_code: 200,
  message_id: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e@example.com",
  method: "POST",
  name: "example.com",
  path: "/api/emails",
  recipient: "delivered@backstamp.test",
  region: "self-hosted",
  response_status: 200,
  retryAfter: 12,
  sender: "Ann <ann@example.com>",
  signing_secret: "whsec_c2VjcmV0LW9mLXRoZS1lbmRwb2ludA==",
  token: "re_…",
  type: "email.delivered",
  url: "https://example.com/hooks",
  user_agent: "resend-node:6.38.0",
};

/** The texts of an example, by the name of their field. */
function textsOf(example: unknown): Record<string, unknown> {
  if (typeof example !== "object" || example === null) return {};
  const inside = Object.values(example).map(textsOf);
  const own = Array.isArray(example)
    ? []
    : Object.entries(example).filter(([, value]) => typeof value !== "object");
  return Object.assign({}, ...inside, Object.fromEntries(own));
}

/** Example values from the requests of some operations, so that responses match them. The first one with a name counts. */
export const valuesOf = (operations: readonly PlacedOperation[]): Record<string, unknown> =>
  Object.assign(
    {},
    ...operations
      .toReversed()
      .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
      .map(({ example }) => textsOf(example)),
  );

type Given = Record<string, unknown>;

/** An example of a schema. A field that the given values have by its name gets that value if its type allows it. */
export function exampleOf(document: ApiDocument, schema: Schema, given: Given, name = ""): unknown {
  const { type, properties, items, additionalProperties, anyOf, oneOf, ...rest } = resolve<Schema>(
    document,
    schema as Schema & { $ref: string },
  );
  if (rest.const !== undefined) return rest.const;
  const [alternative] = anyOf ?? oneOf ?? [];
  if (alternative) return exampleOf(document, alternative, given, name);
  const values = rest.enum;
  if (values) return values.includes(given[name]) ? given[name] : values[0];
  switch ([type].flat()[0]) {
    case "object":
      if (!properties)
        return typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0
          ? { name: exampleOf(document, additionalProperties, given, "value") }
          : {};
      return Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, exampleOf(document, each, given, key)]),
      );
    case "array":
      return items ? [exampleOf(document, items, given, name)] : [];
    case "boolean":
      return typeof given[name] === "boolean" ? given[name] : name !== "has_more";
    case "integer":
    case "number":
      return numberOf(given[name] ?? VALUES[name], rest.minimum);
    case "string":
      return textOf(rest.format, given[name] ?? VALUES[name], name);
    default:
      return null;
  }
}

const numberOf = (given: unknown, minimum: number | undefined): number =>
  typeof given === "number" ? given : Math.max(minimum ?? 1, 1);

function textOf(format: string | undefined, given: unknown, name: string): string {
  if (format === "uuid") return sampleId;
  if (format === "date-time") return sampleAt;
  if (format === "date") return sampleAt.slice(0, 10);
  return typeof given === "string" ? given : `${name.replaceAll("_", " ")}…`;
}

/** The body of an error response. */
export function errorExample(document: ApiDocument, { schema, reason, name, status }: ListedError): unknown {
  const message = reason.replaceAll("`", "");
  const given = { error: message, message, name, statusCode: status, request_id: sampleId };
  return exampleOf(document, { $ref: `#/components/schemas/${schema}` }, { retryAfter: 12, ...given });
}

export const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);
