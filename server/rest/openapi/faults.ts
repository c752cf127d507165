import { AppError, type ErrorCode } from "#server/errors";
import type { Route } from "../route";
import type { Schema } from "./schema";

/** Why a call may be refused, in a line; the answer itself says what was wrong with it and what would work. */
const REASONS: Record<ErrorCode, string> = {
  bad_json: "The body is missing, ends early, or is no JSON or no UTF-8.",
  bad_idempotency_key: "The `Idempotency-Key` is not 1 to 256 printable ASCII characters.",
  unauthorized: "There is no key, or none that is valid now.",
  forbidden: "The key may not do this: it lacks the scope, or the domain.",
  not_found: "There is no such row, or it is another team's.",
  method_not_allowed: "The path does not have this method.",
  conflict: "The row is not in a state in which this is possible.",
  idempotency_mismatch: "The `Idempotency-Key` was used with another payload.",
  idempotency_running: "A request with this `Idempotency-Key` is still running.",
  too_large: "The body is too large.",
  wrong_content_type: "The body has another type, or is compressed.",
  missing_field: "A required field is missing.",
  invalid: "A field or parameter is unknown or has a value that it cannot have.",
  invalid_attachment: "An attachment cannot be taken.",
  invalid_sender: "Mail cannot be sent from this address.",
  invalid_parameter: "A part of the path is not what it should be.",
  rate_limited: "The limit of the key is used up; after `retryAfter` seconds the call passes.",
  internal: "Something went wrong on our side; the log of the operator says what.",
  unavailable: "The database is away or busy; try again in a moment.",
};

/** The errors that a declaration implies, and those that it names. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const { access, method, path, body, accepts, idempotent, errors = [] } = route;
  const codes: (ErrorCode | false)[] = [
    method !== "GET" && "bad_json",
    idempotent === true && "bad_idempotency_key",
    access !== "public" && "unauthorized",
    typeof access === "object" && "forbidden",
    (path.includes("{") || access === "operator-token") && "not_found",
    idempotent === true && "idempotency_mismatch",
    idempotent === true && "idempotency_running",
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

/** Codes by their HTTP status, in order. */
export function byStatus(codes: readonly ErrorCode[]): [status: number, codes: ErrorCode[]][] {
  const statuses = [...new Set(codes.map((code) => errorOf(code).status))].sort((a, b) => a - b);
  return statuses.map((status) => [status, codes.filter((code) => errorOf(code).status === status)]);
}

/** What a status means where these codes are behind it. */
export const describeStatus = (codes: readonly ErrorCode[]): string =>
  codes.length === 1 && codes[0] !== undefined
    ? REASONS[codes[0]]
    : codes.map((code) => `- \`${errorOf(code).wireName}\`: ${REASONS[code]}`).join("\n");

const exactly = (error: string, more: Schema = {}): Schema => ({
  type: "object",
  properties: { error: { const: error }, ...more },
  required: ["error", ...Object.keys(more)],
  additionalProperties: false,
});

/** Bodies of errors: three to the letter, and one form for every other. */
export const ERROR_SCHEMAS: Record<string, Schema> = {
  Unauthorized: exactly("Unauthorized"),
  Forbidden: exactly("Insufficient API key permissions"),
  RateLimited: exactly("Rate limit exceeded", {
    retryAfter: { type: "integer", minimum: 1, maximum: 60, description: "Seconds until the call passes." },
  }),
  Error: {
    type: "object",
    properties: {
      error: { type: "string", description: "What was wrong, and what would work." },
      name: { type: "string", description: "A word that programs can tell errors apart by." },
      message: { type: "string", description: "The same as `error`." },
      statusCode: { type: "integer" },
      request_id: { type: "string" },
    },
    required: ["error", "name", "message", "statusCode", "request_id"],
  },
};

const EXACT: Record<number, string> = { 401: "Unauthorized", 403: "Forbidden", 429: "RateLimited" };

/** The name of the schema of a status's body. */
export const errorSchemaOf = (status: number): string => EXACT[status] ?? "Error";
