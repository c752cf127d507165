/** Descriptions of system errors, by code. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection closed",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENOTFOUND: "host name not found",
  EAI_AGAIN: "DNS lookup failed temporarily",
};

/** Such as `connect ENETUNREACH 203.0.113.5:25 - Local (10.0.0.7:41234)`. */
const SYSTEM_ERROR = /^[a-z]+ (E[A-Z0-9_]+)\b/;

/**
 * Why a connection failed, safe to show to every reader of the email. A system error message contains the
 * addresses of both ends, which may be addresses of this machine or of its network: only the error code is
 * used.
 */
export function describeConnectionError(error: unknown): string {
  if (!(error instanceof Error)) return "connection failed";
  // After attempts at several addresses the message is empty and the code is that of the first address.
  const code = error.message === "" ? Reflect.get(error, "code") : SYSTEM_ERROR.exec(error.message)?.[1];
  return code === undefined
    ? error.message
    : `${DESCRIPTIONS[String(code)] ?? "connection failed"} (${code})`;
}
