import { Agent, createServer, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import type { RestDeps } from "#server/deps";
import { type Dispatch, dispatch } from "#server/rest/dispatch";
import { listenOnLoopback } from "./servers/free-port";

export type RestServer = { baseUrl: string; close(): Promise<void> };

/** Starts the REST API behind a real HTTP server on a free loopback port. */
export async function startRest(deps: RestDeps, respond: Dispatch = dispatch): Promise<RestServer> {
  const server = createServer(
    // With the default of 5 s, a test that computes for longer finds its connection closed.
    { keepAliveTimeout: 65_000 },
    getRequestListener(
      (incoming, { incoming: { socket } }) =>
        respond(deps, incoming, { address: socket.remoteAddress ?? null }),
      { hostname: "localhost", overrideGlobalObjects: false },
    ),
  );
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type CallOptions = {
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  raw?: string | Uint8Array;
  headers?: Record<string, string | string[]>;
};

export type Reply = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The JSON object of the response; empty if there is none or the type is not JSON. */
  body: Record<string, unknown>;
};

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * One call over HTTP. Path and method are sent exactly as given: nothing is resolved, encoded or followed.
 */
export async function callApi(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Reply> {
  const { hostname, port } = new URL(baseUrl);
  const content = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers: Record<string, string | string[]> = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(content === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(content)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, method, path, headers, agent }, (response) => {
      text(response)
        .then((answer) => {
          const { statusCode: status = 0, headers } = response;
          const isJson = /^application\/json\b/.test(headers["content-type"] ?? "");
          resolve({ status, headers, text: answer, body: isJson ? readJson(answer) : {} });
        })
        .catch(reject);
    });
    call.on("error", reject);
    call.end(content);
  });
}

/** Writes bytes to a new connection and returns everything that is received until it closes. */
export async function callRaw(baseUrl: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.end(bytes);
  return text(socket);
}

function readJson(answer: string): Record<string, unknown> {
  if (answer === "") return {};
  const body: unknown = JSON.parse(answer);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new Error(`The answer is no JSON object: ${answer.slice(0, 200)}`);
  return body as Record<string, unknown>;
}
