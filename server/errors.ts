/**
 * Every error that a caller can meet, once: HTTP status, the name that clients of the Resend dialect switch on, and the
 * tRPC code. A code without its row does not compile.
 */
const ERRORS = {
  bad_json: { status: 400, name: "validation_error", trpc: "BAD_REQUEST" },
  bad_idempotency_key: { status: 400, name: "invalid_idempotency_key", trpc: "BAD_REQUEST" },
  unauthorized: { status: 401, name: "missing_api_key", trpc: "UNAUTHORIZED" },
  forbidden: { status: 403, name: "restricted_api_key", trpc: "FORBIDDEN" },
  not_found: { status: 404, name: "not_found", trpc: "NOT_FOUND" },
  method_not_allowed: { status: 405, name: "method_not_allowed", trpc: "METHOD_NOT_SUPPORTED" },
  conflict: { status: 409, name: "validation_error", trpc: "CONFLICT" },
  idempotency_mismatch: { status: 409, name: "invalid_idempotent_request", trpc: "CONFLICT" },
  idempotency_running: { status: 409, name: "concurrent_idempotent_requests", trpc: "CONFLICT" },
  too_large: { status: 413, name: "validation_error", trpc: "PAYLOAD_TOO_LARGE" },
  wrong_content_type: { status: 415, name: "validation_error", trpc: "UNSUPPORTED_MEDIA_TYPE" },
  missing_field: { status: 422, name: "missing_required_field", trpc: "UNPROCESSABLE_CONTENT" },
  invalid: { status: 422, name: "validation_error", trpc: "UNPROCESSABLE_CONTENT" },
  invalid_attachment: { status: 422, name: "invalid_attachment", trpc: "UNPROCESSABLE_CONTENT" },
  invalid_sender: { status: 422, name: "invalid_from_address", trpc: "UNPROCESSABLE_CONTENT" },
  invalid_parameter: { status: 422, name: "invalid_parameter", trpc: "UNPROCESSABLE_CONTENT" },
  rate_limited: { status: 429, name: "rate_limit_exceeded", trpc: "TOO_MANY_REQUESTS" },
  internal: { status: 500, name: "internal_server_error", trpc: "INTERNAL_SERVER_ERROR" },
  unavailable: { status: 503, name: "application_error", trpc: "SERVICE_UNAVAILABLE" },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** An error that the caller may read: its message says what was wrong and what would work. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Further facts for the caller, written beside `message` in the answer. */
  readonly details: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
  get wireName(): string {
    return ERRORS[this.code].name;
  }
  get trpcCode() {
    return ERRORS[this.code].trpc;
  }
}

/** The one answer for what does not exist and for what belongs to somebody else. */
export function notFound(noun: string): AppError {
  return new AppError("not_found", `${noun} not found`);
}
