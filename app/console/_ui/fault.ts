/** A failed call: a message for the user, the tRPC error code, and the request id to find it in the log. */
export type Fault = { message: string; code: string | null; requestId: string | null };

/** The page asks for a new sign-in, so nothing else reports this error. */
export const isEndOfSession = ({ code }: Pick<Fault, "code">): boolean => code === "UNAUTHORIZED";

/** The error that a component displays; null if there is none, or if the page asks for a new sign-in. */
export function shownFaultOf(error: unknown): Fault | null {
  const fault = error ? faultOf(error) : null;
  return fault && !isEndOfSession(fault) ? fault : null;
}

/** Converts any error of a call. A call that did not reach the server has no code and no request id. */
export function faultOf(error: unknown): Fault {
  const data: unknown = typeof error === "object" && error !== null && "data" in error ? error.data : null;
  if (typeof data !== "object" || data === null)
    return {
      message: "The service cannot be reached. Try again when the connection is back.",
      code: null,
      requestId: null,
    };
  return {
    message: error instanceof Error ? error.message : "Something went wrong.",
    code: "code" in data ? String(data.code) : null,
    requestId: "requestId" in data && data.requestId ? String(data.requestId) : null,
  };
}
