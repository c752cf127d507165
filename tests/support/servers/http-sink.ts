import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { Certificate } from "./certificate";

/** One received request. */
export type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The server name that the client sent during the TLS handshake. */
  serverName: string | null;
};

/** A status, a complete response, or a function for anything else. */
export type SinkReply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string | Uint8Array }
  | ((response: ServerResponse) => unknown);

/** The reply to the nth request (from 1). */
export type SinkScript = (request: Received, nth: number) => SinkReply | Promise<SinkReply>;

export type HttpSink = {
  port: number;
  /** All complete requests, in order. */
  received: Received[];
  /** Resolves when that many requests have arrived. */
  waitFor(count: number): Promise<void>;
  /** The number of open connections. */
  connections(): number;
  close(): Promise<void>;
};

const timeoutMs = 30_000;

/** Starts an HTTP server on loopback that records each request before it responds as its script defines. */
export async function startHttpSink(
  script: SinkScript = () => 200,
  options: { host?: string; port?: number; certificate?: Certificate } = {},
): Promise<HttpSink> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = async (incoming, response) => {
    response.on("error", () => response.destroy());
    const { socket } = incoming;
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return;
    const request: Received = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: body.toString(),
      serverName: socket instanceof TLSSocket && socket.servername ? socket.servername : null,
    };
    received.push(request);
    const reply = await script(request, received.length);
    if (typeof reply === "function") return reply(response);
    const whole = typeof reply === "number" ? { status: reply } : reply;
    response.writeHead(whole.status, whole.headers).end(whole.body);
  };
  const { certificate } = options;
  const server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => sockets.size,
    waitFor: async (count) => {
      for (let waitedMs = 0; received.length < count; waitedMs += 10) {
        if (waitedMs > timeoutMs) throw new Error(`${received.length} of ${count} requests arrived`);
        await wait(10);
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
