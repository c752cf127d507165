import { AppError, type ErrorCode } from "#server/platform/errors";
import type { Route } from "../pipeline/route";
import type { Schema } from "./schema";

/** Why a call may be rejected and what the caller can do. The error response itself says what to change. */
const REASONS: Record<ErrorCode, readonly [reason: string, action: string]> = {
  bad_json: [
    "The body is missing, incomplete, or not valid JSON in UTF-8.",
    "Correct the body. The message says where it is wrong.",
  ],
  bad_idempotency_key: [
    "The `Idempotency-Key` is not 1 to 256 printable ASCII characters.",
    "Send a shorter or simpler value, such as a UUID.",
  ],
  unauthorized: [
    "The API key is missing, invalid or expired.",
    "Send `Authorization: Bearer <key>` with a key that is active.",
  ],
  forbidden: [
    "The key lacks the scope or is not linked to the domain.",
    "Read `X-Backstamp-Reason`. Add the scope or the domain to the key, or use another key.",
  ],
  not_found: [
    "The resource does not exist, or belongs to another team.",
    "Check the path and the id. Do not repeat the request.",
  ],
  method_not_allowed: [
    "The path does not support this method.",
    "Use a method that the header `Allow` lists.",
  ],
  too_slow: [
    "The body did not arrive in time.",
    "Repeat the request, over a faster connection or with a smaller body.",
  ],
  conflict: [
    "The current state of the resource does not allow this operation.",
    "Read the resource again. The message names the state.",
  ],
  idempotency_mismatch: [
    "The `Idempotency-Key` was used with a different payload.",
    "Use a new key for a new request.",
  ],
  idempotency_running: [
    "A request with this `Idempotency-Key` is still in progress.",
    "Repeat the request in a few seconds, with the same key.",
  ],
  too_large: ["The body is too large.", "Send less in one request. The message names the maximum."],
  wrong_content_type: [
    "The content type is not supported, or the body is compressed.",
    "Send the content type of the operation, uncompressed.",
  ],
  missing_field: ["A required field is missing.", "Add the field that the message names."],
  invalid: [
    "A field or parameter is unknown or has an invalid value.",
    "Correct the field that the message names.",
  ],
  invalid_attachment: ["An attachment is invalid.", "Correct the attachment that the message names."],
  invalid_sender: [
    "Email cannot be sent from this address.",
    "Use an address at a verified domain of the team.",
  ],
  invalid_parameter: ["A path parameter is invalid.", "Correct the id in the path."],
  rate_limited: [
    "The rate limit of the key is exceeded. Retry after `retryAfter` seconds.",
    "Wait `retryAfter` seconds, then repeat the request. To send more, use `POST /api/emails/batch`.",
  ],
  internal: [
    "Internal server error. The operator's log contains the details.",
    "Repeat the request with the same `Idempotency-Key`. If it fails again, send the operator the `request_id`.",
  ],
  unavailable: [
    "The database is unavailable or busy. Try again in a moment.",
    "Repeat the request after `Retry-After` seconds, with the same `Idempotency-Key`.",
  ],
};

/** The errors that a declaration implies and those that it lists. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const { access, method, path, body, accepts, idempotent, errors = [] } = route;
  const codes: (ErrorCode | false)[] = [
    method !== "GET" && "bad_json",
    idempotent === true && "bad_idempotency_key",
    access !== "public" && "unauthorized",
    typeof access === "object" && "forbidden",
    (path.includes("{") || access === "operator-token" || access === "metrics-token") && "not_found",
    idempotent === true && "idempotency_mismatch",
    idempotent === true && "idempotency_running",
    method !== "GET" && "too_slow",
    method !== "GET" && "too_large",
    method !== "GET" && "wrong_content_type",
    body !== undefined && accepts === undefined && "missing_field",
    path.includes("{") && "invalid_parameter",
    "invalid",
    typeof access === "object" && "rate_limited",
    "internal",
    "unavailable",
    ...errors,
  ];
  return [...new Set(codes.filter((code) => code !== false))];
}

const errorOf = (code: ErrorCode) => new AppError(code, "");

/** Codes grouped by HTTP status, in ascending order. */
export function byStatus(codes: readonly ErrorCode[]): [status: number, codes: ErrorCode[]][] {
  const statuses = [...new Set(codes.map((code) => errorOf(code).status))].sort((a, b) => a - b);
  return statuses.map((status) => [status, codes.filter((code) => errorOf(code).status === status)]);
}

/** The description of a status that these codes share. */
export const describeStatus = (codes: readonly ErrorCode[]): string =>
  codes.length === 1 && codes[0] !== undefined
    ? REASONS[codes[0]][0]
    : codes.map((code) => `- \`${errorOf(code).wireName}\`: ${REASONS[code][0]}`).join("\n");

/** Every error of the API, by status: when it occurs and what to do. */
export const listErrors = () =>
  byStatus(Object.keys(REASONS) as ErrorCode[]).flatMap(([status, codes]) =>
    codes.map((code) => ({
      name: errorOf(code).wireName,
      status,
      reason: REASONS[code][0],
      action: REASONS[code][1],
      /** The name of the schema of its body, in the components of the document. */
      schema: errorSchemaOf(status),
    })),
  );

export type ListedError = ReturnType<typeof listErrors>[number];

const exactly = (error: string, more: Schema = {}): Schema => ({
  type: "object",
  properties: { error: { const: error }, ...more },
  required: ["error", ...Object.keys(more)],
  additionalProperties: false,
});

/** Schemas of error bodies: three exact ones of the specification, and one for all other errors. */
export const ERROR_SCHEMAS: Record<string, Schema> = {
  Unauthorized: exactly("Unauthorized"),
  Forbidden: exactly("Insufficient API key permissions"),
  RateLimited: exactly("Rate limit exceeded", {
    retryAfter: { type: "integer", minimum: 1, maximum: 60, description: "Seconds to wait before a retry." },
  }),
  Error: {
    type: "object",
    properties: {
      error: { type: "string", description: "What is wrong and how to fix it." },
      name: { type: "string", description: "Machine-readable name of the error." },
      message: { type: "string", description: "The same as `error`." },
      statusCode: { type: "integer" },
      request_id: { type: "string" },
    },
    required: ["error", "name", "message", "statusCode", "request_id"],
  },
};

const EXACT: Record<number, string> = { 401: "Unauthorized", 403: "Forbidden", 429: "RateLimited" };

/** The name of the schema for the body of a status. */
export const errorSchemaOf = (status: number): string => EXACT[status] ?? "Error";
