/** All errors that callers can get: HTTP status, error name for Resend-compatible clients, and tRPC code. */
const ERRORS = {
  bad_json: { status: 400, name: "validation_error", trpc: "BAD_REQUEST" },
  bad_idempotency_key: { status: 400, name: "invalid_idempotency_key", trpc: "BAD_REQUEST" },
  unauthorized: { status: 401, name: "missing_api_key", trpc: "UNAUTHORIZED" },
  forbidden: { status: 403, name: "restricted_api_key", trpc: "FORBIDDEN" },
  not_found: { status: 404, name: "not_found", trpc: "NOT_FOUND" },
  method_not_allowed: { status: 405, name: "method_not_allowed", trpc: "METHOD_NOT_SUPPORTED" },
  too_slow: { status: 408, name: "validation_error", trpc: "TIMEOUT" },
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

type AppErrorOptions = {
  cause?: unknown;
  details?: Record<string, unknown>;
  /** The field of the API that the error is about. */
  field?: string;
  /**
   * The message without names of the API. With `field`, pages show it after the label of the field and a
   * colon, so it does not repeat the label.
   */
  plain?: string;
};

/** An error for the caller. Its message says what is wrong and what to do. */
export class AppError extends Error {
  /** Additional fields for the caller, written next to `message` in the response. */
  readonly details: Record<string, unknown>;
  /** The field that the error is about, as the API names it; null for any other error. */
  readonly field: string | null;
  /** For pages: the message without Markdown and, where the caller of AppError set it, without API names. */
  readonly plain: string;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.details = options.details ?? {};
    this.field = options.field ?? null;
    this.plain = (options.plain ?? message).replace(/`([^`]+)`/g, "“$1”");
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

/**
 * 422 for one field of the request. `plain` is the fault for pages, if `fault` contains other names of the
 * API.
 */
export const invalidField = (field: string, fault: string, plain = fault): AppError =>
  new AppError("invalid", `Invalid \`${field}\`: ${fault}`, { field, plain });

/** Why a valid key is rejected. The values are stable, so programs can compare them. */
export const REJECTION_REASONS = [
  "missing_scope",
  "domain_not_linked",
  "exceeds_calling_key",
  "client_address_not_allowed",
] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];
export type Rejection = { reason: RejectionReason; detail: string };

/**
 * The API's 403 for a key without a required permission. The specification fixes its body, so a header
 * carries `detail`, the sentence that says what is missing.
 */
export const rejectKey = (reason: RejectionReason, detail: string): AppError =>
  new AppError("forbidden", detail, { details: { reason } });

/** The 403 for a key without the scope of an action. */
export const rejectScope = (scope: string): AppError =>
  rejectKey("missing_scope", `This key lacks the scope ${scope}. Use or create a key that has this scope.`);

/** The rejection in an error created by `rejectKey`; null for any other error. */
export const rejectionOf = ({ code, message, details }: AppError): Rejection | null =>
  code === "forbidden" && "reason" in details
    ? { reason: details.reason as RejectionReason, detail: message }
    : null;

/** The same error for a missing object and for an object of another team. */
export function notFound(noun: string): AppError {
  return new AppError("not_found", `${noun} not found`);
}
