/** What a failed call tells: a sentence for people, the code to decide by, and the number to find it by in the log. */
export type Fault = { message: string; code: string | null; requestId: string | null };

/** Reads any error of a call. One that never reached the server has no request id. */
export function faultOf(error: unknown): Fault {
  const data: unknown = typeof error === "object" && error !== null && "data" in error ? error.data : null;
  if (typeof data !== "object" || data === null)
    return { message: "The service cannot be reached. Is it running?", code: null, requestId: null };
  return {
    message: error instanceof Error ? error.message : "Something went wrong.",
    code: "code" in data ? String(data.code) : null,
    requestId: "requestId" in data && data.requestId ? String(data.requestId) : null,
  };
}
