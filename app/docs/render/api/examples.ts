import { type ApiDocument, type ListedError, type PlacedOperation, resolve, type Schema } from "./document";

const sampleId = "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e";
const sampleAt = "2026-01-01T12:00:00.000Z";

/** Example values by the name of their field. A field that can be null and is not listed here is null. */
const VALUES: Record<string, unknown> = {
  address: "delivered@backstamp.test",
  api_key_id: sampleId,
  api_key_name: "Shop",
  bcc: [],
  cc: [],
  client_networks: [],
  code: 250,
  agent: "resend-node:6.38.0",
  content_type: "application/pdf",
  cursor: sampleId,
  day: "2026-01-01",
  domain: "example.com",
  download_url: "https://mail.example.com/api/attachments/eyJ…",
  duration_ms: 84,
  email: "gone@example.com",
  email_id: sampleId,
  endpoint: "/api/emails",
  enhanced: "2.0.0",
  filename: "receipt.pdf",
  from: "Ann <ann@example.com>",
  host: "mx.example.com",
  html: "<p>It works.</p>",
  http_status_code: 200,
  kind: "to",
  last_checked_at: sampleAt,
  last_event: "delivered",
  last_used_at: sampleAt,
  message_id: `${sampleId}@example.com`,
  method: "POST",
  name: "example.com",
  next: sampleId,
  path: "/api/emails",
  published_at: sampleAt,
  published_version_id: sampleId,
  recipient: "delivered@backstamp.test",
  region: "self-hosted",
  reply_to: "support@example.com",
  response_status: 200,
  retryAfter: 12,
  scopes: ["emails:send"],
  sender: "Ann <ann@example.com>",
  signing_secret: "whsec_c2VjcmV0LW9mLXRoZS1lbmRwb2ludA==",
  size: 48_213,
  source_id: sampleId,
  subject: "First email",
  text: "It works.",
  to: ["delivered@backstamp.test"],
  token: "re_…",
  token_id: "re_8Kd2",
  type: "email.delivered",
  url: "https://example.com/hooks",
  user_agent: "resend-node:6.38.0",
  value: "v=spf1 include:example.net ~all",
};

/** States that a reader expects in an example. */
const USUAL: readonly unknown[] = ["verified", "published", "delivered", "success", "enabled", "normal"];

/** Booleans that are true in examples. */
const TRUE: ReadonlySet<string> = new Set(["complete", "deleted", "open_tracking"]);

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** The texts of an example, by the name of their field. */
function textsOf(example: unknown): Record<string, unknown> {
  if (typeof example !== "object" || example === null) return {};
  const inside = Object.values(example).map(textsOf);
  const own = Array.isArray(example)
    ? []
    : Object.entries(example).filter(([, value]) => typeof value !== "object" || isList(value));
  return Object.assign({}, ...inside, Object.fromEntries(own));
}

/**
 * Example values from the requests of some operations, so that responses match them. The first one with a
 * name counts.
 */
export const valuesOf = (operations: readonly PlacedOperation[]): Record<string, unknown> =>
  Object.assign(
    {},
    ...operations
      .toReversed()
      .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
      .map(({ example }) => textsOf(example)),
  );

type Given = Record<string, unknown>;

/**
 * An example of a schema. A field that the given values have by its name gets that value if its type allows
 * it.
 */
export function exampleOf(document: ApiDocument, schema: Schema, given: Given, name = ""): unknown {
  const { type, properties, required, items, anyOf, oneOf, ...rest } = resolve<Schema>(
    document,
    schema as Schema & { $ref: string },
  );
  // The time of a request can be in words.
  const isTime = [rest, ...(anyOf ?? [])].some(({ format }) => format === "date-time");
  const value = isTime ? VALUES[name] : (given[name] ?? VALUES[name]);
  const types = [type ?? (anyOf ?? oneOf ?? []).map((each) => each.type ?? "object")].flat(2);
  if (types.includes("null") && value === undefined) return null;
  if (rest.const !== undefined) return rest.const;
  const [alternative] = anyOf ?? oneOf ?? [];
  if (alternative) return exampleOf(document, alternative, given, name);
  const values = rest.enum;
  // The filter of a request can name another status.
  const preferred = name === "status" ? USUAL : [value, ...USUAL];
  if (values) return [...preferred, ...values].find((each) => values.includes(each));
  switch ([type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([key]) => required?.includes(key))
          .map(([key, each]) => [key, exampleOf(document, each, given, key)]),
      );
    case "array":
      if (isList(value) && items?.type === "string") return value;
      return items ? [exampleOf(document, items, given, name)] : [];
    case "boolean":
      return typeof value === "boolean" ? value : TRUE.has(name);
    case "integer":
    case "number":
      return numberOf(value, rest.minimum);
    case "string":
      return textOf(rest.format, value, name);
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
