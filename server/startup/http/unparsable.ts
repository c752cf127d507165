import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { formatRejection, type RestApi } from "./rest-endpoint";

/** Responses by error code of the HTTP parser, for input that never becomes a request. */
const RESPONSES: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "The headers are larger than 16 KB." },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: "The chunk extensions are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time." },
  HPE_INVALID_METHOD: { status: 400, message: "Unknown HTTP method." },
};
const UNREADABLE = { status: 400, message: "Not a valid HTTP/1.1 request." };

/** The pending response of a connection, as Node stores it. */
type PendingResponse = { headersSent: boolean; shouldKeepAlive: boolean; req?: { complete: boolean } };

/** Answers what never becomes a request to this server: unparsable input, and CONNECT. */
export function rejectNonRequests(server: Server, rest: Promise<RestApi>): void {
  server.on("connect", (incoming: IncomingMessage, socket: Duplex) => {
    void rejectUnparsable(socket, rest, "CONNECT is not supported. This server is not a proxy.");
    incoming.resume();
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    void rejectUnparsable(socket, rest, error);
  });
}

/**
 * Responds to unparsable input in the API's error format, with the rate-limit headers, and closes the
 * connection. If a complete earlier request is still in progress, the client gets that request's response
 * instead. `why` is the parser's error or a sentence. Never throws.
 */
async function rejectUnparsable(
  socket: Duplex & { remoteAddress?: string; _httpMessage?: PendingResponse | null },
  rest: Promise<RestApi>,
  why: NodeJS.ErrnoException | string,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const pending = socket._httpMessage;
  if (pending?.req?.complete && !pending.headersSent) {
    pending.shouldKeepAlive = false;
    return;
  }
  // A broken connection, or one with a started response, cannot carry another response.
  if (!socket.writable || (typeof why !== "string" && why.code === "ECONNRESET") || pending?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message } =
    typeof why === "string" ? { status: 405, message: why } : (RESPONSES[why.code ?? ""] ?? UNREADABLE);
  const name = status === 405 ? "method_not_allowed" : "validation_error";
  try {
    const fault = { status, name, message };
    const { headers: common, body } = await formatRejection(rest, socket.remoteAddress ?? null, fault);
    // The broken request itself may have been answered in the meantime: a second response would follow the
    // first.
    if (pending?.headersSent) {
      socket.end();
      return;
    }
    const headers = {
      connection: "close",
      date: new Date().toUTCString(),
      ...(status === 405 ? { allow: "" } : {}),
      ...common,
    };
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
    socket.end(isHeadRequest(why) ? head : head + body);
  } catch {
    socket.destroy();
  }
}

/**
 * A HEAD client would read a body as the next response (RFC 9110 section 9.3.2). `rawPacket` is the unparsed
 * input.
 */
function isHeadRequest(why: string | (Error & { rawPacket?: unknown })): boolean {
  return (
    typeof why !== "string" &&
    why.rawPacket instanceof Buffer &&
    /^HEAD /.test(why.rawPacket.toString("latin1", 0, 5))
  );
}
