import { once } from "node:events";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { errorFacts, type Log } from "#server/platform/log";
import { toResponse } from "#server/rest/pipeline/respond";
import { findHostFault, findPageFault, rejectPage } from "./page-faults";
import { formatRejection, type RestApi } from "./rest-endpoint";
import { findRestTarget } from "./rest-target";
import { findRouterStateFault } from "./router-state";
import { rejectNonRequests } from "./unparsable";

/** Handles all requests outside the REST API: Next, or an error response if Next could not start. */
export type Pages = {
  request(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  /** Handles an upgraded connection (hot reload). */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
};

export type HttpServerOptions = {
  host: string;
  port: number;
  /** A host name at whose root the REST API also responds. */
  apiHost: string | null;
  /** Earlier requests wait for it. */
  rest: Promise<RestApi>;
  pages: Pages;
  /** Whether pages accept upgraded connections. */
  upgrades: boolean;
  log: Log;
  /**
   * Time in ms for a complete request to arrive, including its body. After it, the response is 408. Default:
   * 5 minutes.
   */
  requestMs?: number;
};

/** The open HTTP server. */
export type HttpServer = {
  port: number;
  /**
   * Stops accepting connections and waits for requests in progress. After `graceMs`, closes all connections.
   */
  close(graceMs: number): Promise<void>;
};

// Longer than the idle timeout of common proxies. The proxy closes an idle connection first, so no request is
// lost.
const keepAliveMs = 65_000;
const headersMs = keepAliveMs + 1_000;
const requestMsMax = 300_000;
/** Interval in ms of the check for requests past their timeout. */
const lateCheckMs = 5_000;

/**
 * Opens the HTTP server. REST handles requests under `/api`, the pages handle all others. Resolves once the
 * port is bound, without waiting for either of them. Rejects with the system error if the port cannot be
 * bound.
 */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  let isClosing = false;
  // The REST API handles its own errors. This handles errors of the adapter, and bugs in the REST API.
  const answerFault = async (error: unknown): Promise<Response> => {
    options.log.error("http.failed", errorFacts(error));
    const name = "internal_server_error";
    const fault = { status: 500, name, message: "Something went wrong on our side." };
    const { headers, body } = await formatRejection(options.rest, null, fault);
    return new Response(body, { status: 500, headers });
  };
  const answerRest = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const rest = await options.rest;
      const reply = await rest.answer(request, { address: incoming.socket.remoteAddress ?? null });
      if (reply.body instanceof ReadableStream) return toResponse(reply);
      // A Response of the platform would make a stream of the body, and take longer than all else here.
      const { status, headers, body } = reply;
      if (body !== null) headers["content-length"] = String(Buffer.byteLength(body));
      (outgoing as ServerResponse).writeHead(status, headers).end(body);
      return RESPONSE_ALREADY_SENT;
    },
    // Next runs in this process with its own Request and Response, so the adapter must not replace the
    // globals.
    { hostname: "localhost", overrideGlobalObjects: false, errorHandler: answerFault },
  );

  const onRequest = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (isClosing) outgoing.shouldKeepAlive = false;
    try {
      const target = findRestTarget(incoming.url ?? "/", incoming.headers.host, options.apiHost);
      if (target === null) {
        const fault =
          findPageFault(incoming) ??
          findRouterStateFault(incoming) ??
          (await findHostFault(incoming, options.rest));
        if (fault) return await rejectPage(incoming, outgoing, options.rest, fault);
        return await options.pages.request(incoming, outgoing);
      }
      incoming.url = target;
      // The adapter builds a URL from the Host header and rejects invalid ones. The REST API does not use the
      // host.
      incoming.headers.host = "localhost";
      await answerRest(incoming, outgoing);
    } catch {
      outgoing.destroy();
    }
  };

  const requestMs = options.requestMs ?? requestMsMax;
  const server = createServer({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(lateCheckMs, requestMs),
    // Requests without Host reach the handlers, which respond with the API's error format.
    requireHostHeader: false,
  });
  server.on("request", onRequest);
  server.on("checkContinue", (incoming, outgoing) => {
    outgoing.writeContinue();
    void onRequest(incoming, outgoing);
  });
  server.on("checkExpectation", onRequest);
  rejectNonRequests(server, options.rest);
  // Node stops tracking upgraded connections but waits for them on close, so they are tracked here.
  const upgraded = new Set<Socket>();
  if (options.upgrades) {
    server.on("upgrade", async (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      upgraded.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => upgraded.delete(socket));
      const isForPages = findRestTarget(incoming.url ?? "/", incoming.headers.host, options.apiHost) === null;
      if (isForPages && findPageFault(incoming) === null)
        return options.pages.upgrade(incoming, socket, head);
      // An upgrade offer outside the pages, such as h2c, is ignored. The request is handled over HTTP/1.1.
      const outgoing = new ServerResponse(incoming);
      outgoing.shouldKeepAlive = false;
      outgoing.assignSocket(socket);
      outgoing.on("finish", () => socket.end());
      await onRequest(incoming, outgoing);
    });
  }
  server.listen(options.port, options.host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: address && typeof address === "object" ? address.port : options.port,
    async close(graceMs) {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of upgraded) socket.destroy();
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const timeout = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(timeout);
    },
  };
}
