import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { errorFacts, type Log } from "#server/log";
import { findRestTarget } from "./rest-target";
import { refuseUnreadable } from "./unreadable";

/** What answers the REST surface, as the door needs it. */
export type RestDoor = {
  answer(request: Request, peer: { address: string | null }): Promise<Response>;
  /** The limit headers for what never became a request. */
  limitHeaders(address: string | null): Promise<Record<string, string>>;
};

/** What answers everything else: Next, or a word about why it cannot. */
export type Pages = {
  request(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  /** Takes over an upgraded connection (hot reload). */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
};

export type DoorOptions = {
  host: string;
  port: number;
  /** A host name at whose root the REST surface answers too. */
  apiHost: string | null;
  /** Requests that come earlier wait for it. */
  rest: Promise<RestDoor>;
  pages: Pages;
  /** Pages take upgraded connections. */
  upgrades: boolean;
  log: Log;
};

/** The open HTTP server. */
export type Door = {
  port: number;
  /** Takes nothing new, lets what is under way be answered, then closes every connection; after `graceMs` at once. */
  close(graceMs: number): Promise<void>;
};

// Longer than the idle time of the usual proxies, so that they close a kept connection first and lose no request to it.
const keepAliveMs = 65_000;

/**
 * Opens the HTTP server: REST under `/api` is answered here, everything else by the pages. Resolves once the port is
 * bound, which is before anything slow has begun; rejects with the system's error where it cannot be bound.
 */
export async function openDoor(options: DoorOptions): Promise<Door> {
  let isClosing = false;
  // The surface answers its own faults; this is for those of the adapter, or of a surface that broke its word.
  const answerFault = async (error: unknown): Promise<Response> => {
    options.log.error("door.failed", errorFacts(error));
    const message = "Something went wrong on our side.";
    const body = { error: message, name: "internal_server_error", message, statusCode: 500 };
    return Response.json(body, { status: 500, headers: await (await options.rest).limitHeaders(null) });
  };
  const answerRest = getRequestListener(
    async (request, { incoming }) =>
      (await options.rest).answer(request, { address: incoming.socket.remoteAddress ?? null }),
    // Next lives in this process and has its own idea of Request and Response.
    { hostname: "localhost", overrideGlobalObjects: false, errorHandler: answerFault },
  );

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (isClosing) outgoing.shouldKeepAlive = false;
    const target = findRestTarget(incoming.url ?? "/", incoming.headers.host, options.apiHost);
    if (target === null) return options.pages.request(incoming, outgoing);
    incoming.url = target;
    // The adapter builds a URL out of it and refuses odd ones; nobody behind it asks for the host.
    incoming.headers.host = "localhost";
    await answerRest(incoming, outgoing);
  };
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  };

  const server = createServer({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: keepAliveMs + 1_000,
    // Such requests reach the handlers, which answer in their own form.
    requireHostHeader: false,
  });
  server.on("request", onRequest);
  server.on("checkContinue", (incoming, outgoing) => {
    outgoing.writeContinue();
    onRequest(incoming, outgoing);
  });
  server.on("checkExpectation", onRequest);
  server.on("connect", (incoming: IncomingMessage, socket: Duplex) => {
    void refuseUnreadable(socket, options.rest, "CONNECT is not possible here. This is no proxy.");
    incoming.resume();
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    void refuseUnreadable(socket, options.rest, error);
  });
  // The server lets go of upgraded connections and yet waits for them when it closes.
  const upgraded = new Set<Socket>();
  if (options.upgrades) {
    server.on("upgrade", async (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      upgraded.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => upgraded.delete(socket));
      if (findRestTarget(incoming.url ?? "/", incoming.headers.host, options.apiHost) === null)
        return options.pages.upgrade(incoming, socket, head);
      // A client that offers HTTP/2 on the way is answered as if it had not.
      const outgoing = new ServerResponse(incoming);
      outgoing.shouldKeepAlive = false;
      outgoing.assignSocket(socket);
      outgoing.on("finish", () => socket.end());
      onRequest(incoming, outgoing);
    });
  }
  await listen(server, options.port, options.host);
  const address = server.address();
  return {
    port: address && typeof address === "object" ? address.port : options.port,
    async close(graceMs) {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of upgraded) socket.destroy();
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const patience = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(patience);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
