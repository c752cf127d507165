import type { Agent, Dispatcher } from "undici";
import { OutsideError, type OutsideFault, outsideFaultOf } from "./faults";

export type OutsideRequest = {
  method: "GET" | "HEAD" | "POST";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Total timeout: DNS lookup, connection, response and its body. */
  timeoutMs: number;
  /** Maximum bytes of the response body to read. The rest is cut off. */
  responseBytesMax: number;
  /**
   * Awaited with the size of each part of the response body before the next part is read. A rejection aborts
   * the request.
   */
  onPart?: (bytes: number) => Promise<void>;
  /** Aborts the request. The result is then the fault `network`. */
  signal?: AbortSignal;
};

export type OutsideResponse =
  | {
      kind: "answer";
      status: number;
      /** By lower-case name. The values of a repeated header are joined with commas. */
      headers: Record<string, string>;
      /** The bytes as received. A `content-encoding` is not decoded. */
      body: Buffer;
      isCut: boolean;
    }
  | { kind: "fault"; fault: OutsideFault };

/** Sends one request with the agent. The deadline or the caller's signal aborts it. Never throws. */
export async function callWithin(agent: Agent, url: URL, request: OutsideRequest): Promise<OutsideResponse> {
  const aborting = new AbortController();
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    aborting.abort();
  }, request.timeoutMs);
  const onCallerAbort = () => aborting.abort();
  request.signal?.addEventListener("abort", onCallerAbort, { once: true });
  if (request.signal?.aborted) aborting.abort();
  // undici applies the signal only after the connection is open. Before that, this promise ends the call.
  const aborted = new Promise<never>((_, reject) => {
    const rejectAborted = () => reject(new OutsideError(isLate ? "timeout" : "network"));
    if (aborting.signal.aborted) rejectAborted();
    else aborting.signal.addEventListener("abort", rejectAborted, { once: true });
  });
  try {
    return await Promise.race([call(agent, url, request, aborting.signal), aborted]);
  } catch (error) {
    return { kind: "fault", fault: isLate ? "timeout" : outsideFaultOf(error) };
  } finally {
    clearTimeout(deadline);
    request.signal?.removeEventListener("abort", onCallerAbort);
  }
}

async function call(
  agent: Agent,
  url: URL,
  request: OutsideRequest,
  signal: AbortSignal,
): Promise<OutsideResponse> {
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { "accept-encoding": "identity", ...request.headers },
    body: request.body,
    signal,
  });
  const read = await readUpTo(body, request);
  return { kind: "answer", status: statusCode, headers: joinHeaders(headers), ...read };
}

async function readUpTo(
  body: Dispatcher.ResponseData["body"],
  { responseBytesMax: bytesMax, onPart }: OutsideRequest,
): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    await onPart?.(chunk.length);
    // Leaving the loop destroys the body stream and closes the connection.
    if (length > bytesMax) break;
  }
  return { body: Buffer.concat(chunks, length).subarray(0, bytesMax), isCut: length > bytesMax };
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}
