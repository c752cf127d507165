import type { ApiDocument, ListedError, Schema } from "./openapi";

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

/** An example of a schema, with values by the names of its fields where their type allows it. */
export function exampleOf(schema: Schema, name = "", values = VALUES): unknown {
  const { type, format, properties = {}, required = [], items, anyOf, oneOf, minimum = 1 } = schema;
  const value = values[name];
  const types = [type ?? (anyOf ?? oneOf ?? []).map((each) => each.type ?? "object")].flat(2);
  if (types.includes("null") && value === undefined) return null;
  if (schema.const !== undefined) return schema.const;
  const [alternative] = anyOf ?? oneOf ?? [];
  if (alternative) return exampleOf(alternative, name, values);
  const allowed = schema.enum;
  if (allowed) return [value, ...USUAL, ...allowed].find((each) => allowed.includes(each));
  switch ([type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([key]) => required.includes(key))
          .map(([key, each]) => [key, exampleOf(each, key, values)]),
      );
    case "array":
      if (Array.isArray(value) && items?.type === "string") return value;
      return items ? [exampleOf(items, name, values)] : [];
    case "boolean":
      return TRUE.has(name);
    case "integer":
    case "number":
      return typeof value === "number" ? value : Math.max(minimum, 1);
    case "string":
      return textOf(format, value, name);
    default:
      return null;
  }
}

function textOf(format: string | undefined, value: unknown, name: string): string {
  if (format === "uuid") return sampleId;
  if (format === "date-time") return sampleAt;
  if (format === "date") return sampleAt.slice(0, 10);
  return typeof value === "string" ? value : `${name.replaceAll("_", " ")}…`;
}

/** The body of an error response. */
export function errorExample(
  { components }: ApiDocument,
  { schema, reason, name, status }: ListedError,
): unknown {
  const message = reason.replaceAll("`", "");
  const values = { ...VALUES, error: message, message, name, statusCode: status, request_id: sampleId };
  return exampleOf(components.schemas[schema] ?? {}, "", values);
}
