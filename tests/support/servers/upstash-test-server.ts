import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import { listenOnLoopback } from "./free-port";

/** The fault with which the server responds instead of running a request. */
export type Fault =
  | { kind: "hang" }
  | { kind: "late"; delayMs: number }
  | { kind: "answer"; status: number; body: string };

export type UpstashTestServer = {
  url: string;
  token: string;
  /** The number of requests received since the start, including those with a fault. */
  requests(): number;
  /** From now on every request gets this fault; null means none. */
  setFault(fault: Fault | null): void;
  stop(): Promise<void>;
};

type Reply = { result: unknown } | { error: string };

/**
 * Upstash's REST interface in front of a real Redis: `POST /` with one command, `/pipeline` and `/multi-exec`
 * with several, a bearer token, and responses in base64 if `Upstash-Encoding` requests it. Scripts are
 * identified by the digest of the sent text; they run in Redis without their line of flags, which Redis does
 * not support.
 */
export async function startUpstashTestServer(
  redisUrl: string,
  token = "front-token",
): Promise<UpstashTestServer> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 1 });
  redis.on("error", () => undefined);
  const scripts = new Map<string, string>();
  const delays = new Set<NodeJS.Timeout>();
  let fault: Fault | null = null;
  let requests = 0;

  async function run(command: unknown): Promise<Reply> {
    if (!Array.isArray(command) || command.length === 0) return { error: "ERR empty command" };
    const [name, first = "", ...rest] = command.map(String);
    try {
      if (name === "eval") {
        const plain = withoutFlags(first);
        scripts.set(digest(first), plain);
        return { result: await redis.call("eval", plain, ...rest) };
      }
      if (name === "evalsha") {
        const plain = scripts.get(first);
        if (plain === undefined) return { error: "NOSCRIPT No matching script. Please use EVAL." };
        return { result: await redis.call("eval", plain, ...rest) };
      }
      return { result: await redis.call(...asCall(command.map(String))) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  async function runPath(path: string, body: unknown): Promise<{ status: number; json: unknown }> {
    const commands: unknown[] = Array.isArray(body) ? body : [];
    switch (path) {
      case "/": {
        const reply = await run(body);
        return { status: "error" in reply ? 400 : 200, json: reply };
      }
      case "/pipeline":
        return { status: 200, json: await Promise.all(commands.map(run)) };
      case "/multi-exec": {
        const transaction = redis.multi(commands.map((command) => asCall([command].flat().map(String))));
        const results = (await transaction.exec()) ?? [];
        return {
          status: 200,
          json: results.map(([error, result]) => (error ? { error: error.message } : { result })),
        };
      }
      default:
        return { status: 404, json: { error: "ERR unknown path" } };
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const body = await text(request);
    const current = fault;
    if (current?.kind === "hang") return;
    if (current?.kind === "answer") return send(response, current.status, current.body);
    if (current?.kind === "late") await pause(current.delayMs);
    if (request.headers.authorization !== `Bearer ${token}`) {
      return send(response, 401, JSON.stringify({ error: "WRONGPASS invalid or missing auth token" }));
    }
    const { status, json } = await runPath(request.url ?? "/", JSON.parse(body));
    const isEncoded = request.headers["upstash-encoding"] === "base64";
    send(response, status, JSON.stringify(isEncoded ? encodeReplies(json) : json));
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        delays.delete(timer);
        resolve();
      }, delayMs);
      delays.add(timer);
    });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);

  return {
    url: `http://127.0.0.1:${port}`,
    token,
    requests: () => requests,
    setFault(next) {
      fault = next;
    },
    async stop() {
      for (const timer of delays) clearTimeout(timer);
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      redis.disconnect();
    },
  };
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "Content-Type": "application/json", "upstash-sync-token": "1:1" }).end(body);
}

function asCall([name = "", ...args]: string[]): [string, ...string[]] {
  return [name, ...args];
}

function withoutFlags(script: string): string {
  return script.startsWith("#!lua") ? script.slice(script.indexOf("\n")) : script;
}

function digest(script: string): string {
  return createHash("sha1").update(script).digest("hex");
}

function encodeReplies(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(encodeReplies);
  if (typeof json !== "object" || json === null || !("result" in json)) return json;
  return { ...json, result: encodeValue(json.result) };
}

// Numbers and the status OK are not encoded.
function encodeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeValue);
  return typeof value === "string" && value !== "OK" ? Buffer.from(value).toString("base64") : value;
}
