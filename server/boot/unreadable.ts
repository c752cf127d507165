import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "#server/ids";
import type { RestDoor } from "./node";

/** What the HTTP parser refuses before there is a request, and what the client is told. */
const REFUSALS: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "The headers are larger than 16 KB." },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: "The chunk extensions are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time." },
  HPE_INVALID_METHOD: { status: 400, message: "There is no such HTTP method." },
};
const UNREADABLE = { status: 400, message: "This is not a readable HTTP/1.1 request." };

/** The answer that a connection waits for, as Node keeps it there. */
type UnderWay = { headersSent: boolean; shouldKeepAlive: boolean; req?: { complete: boolean } };

/**
 * Answers what never became a request in the form of every other answer, the limit headers included, and closes the
 * connection. A whole request before it gets its own answer and not this one, for what it asked is being done. `why` is the
 * parser's error or a sentence. Never throws.
 */
export async function refuseUnreadable(
  socket: Duplex & { remoteAddress?: string; _httpMessage?: UnderWay | null },
  rest: Promise<RestDoor>,
  why: NodeJS.ErrnoException | string,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const underWay = socket._httpMessage;
  if (underWay?.req?.complete && !underWay.headersSent) {
    underWay.shouldKeepAlive = false;
    return;
  }
  // A connection that broke, or on which an answer has begun, can take no other one.
  if (!socket.writable || (typeof why !== "string" && why.code === "ECONNRESET") || underWay?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message } =
    typeof why === "string" ? { status: 405, message: why } : (REFUSALS[why.code ?? ""] ?? UNREADABLE);
  const name = status === 405 ? "method_not_allowed" : "validation_error";
  const requestId = newId();
  try {
    const limits = await (await rest).limitHeaders(socket.remoteAddress ?? null);
    const body = JSON.stringify({ error: message, name, message, statusCode: status, request_id: requestId });
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      "cache-control": "no-store",
      connection: "close",
      date: new Date().toUTCString(),
      ...(status === 405 ? { allow: "" } : {}),
      "x-request-id": requestId,
      ...limits,
    };
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
    socket.end(asksForHead(why) ? head : head + body);
  } catch {
    socket.destroy();
  }
}

/** Whoever asks by HEAD takes a body for the next answer (RFC 9110 section 9.3.2). The parser hands on what it could not read. */
function asksForHead(why: string | (Error & { rawPacket?: unknown })): boolean {
  return (
    typeof why !== "string" &&
    why.rawPacket instanceof Buffer &&
    /^HEAD /.test(why.rawPacket.toString("latin1", 0, 5))
  );
}
