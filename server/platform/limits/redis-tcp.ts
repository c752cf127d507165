import { hash } from "node:crypto";
import { Redis, type Requester } from "@upstash/redis";
import { Redis as TcpRedis } from "ioredis";

const connectTimeoutMs = 1_000;
const replyTimeoutMs = 1_000;
const reconnectMaxMs = 1_000;

/**
 * The Upstash client over a plain Redis connection (`redis://`, `rediss://`), for `REDIS_URL`. It connects on
 * the first command, and reconnects if the connection is lost or has no reply for a second. Without a
 * connection, a command is rejected immediately. Commands are never queued or sent twice.
 */
export function createTcpClient(url: string): { redis: Redis; close: () => void } {
  const tcp = new TcpRedis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    socketTimeout: replyTimeoutMs,
    retryStrategy: (attempt) => Math.min(50 * 2 ** (attempt - 1), reconnectMaxMs),
  });
  let connectionError: Error | undefined;
  tcp.on("error", (error: Error) => {
    connectionError = error;
  });
  tcp.on("ready", () => {
    connectionError = undefined;
  });

  let firstConnection: Promise<void> | undefined;
  async function call(name: string, args: string[]): Promise<unknown> {
    firstConnection ??= tcp.connect().catch(() => undefined);
    await firstConnection;
    try {
      return await tcp.call(name, ...args);
    } catch (error) {
      // Without a connection, the connection's error contains the cause, unlike the command's error.
      throw tcp.status === "ready" ? error : (connectionError ?? error);
    }
  }

  return { redis: new Redis(createRequester(call)), close: () => tcp.disconnect() };
}

/**
 * Runs the commands of the Upstash client with `call`. Its scripts begin with a line of flags that only
 * Upstash's servers support. The line is removed, which changes the digest of the script.
 */
function createRequester(call: (name: string, args: string[]) => Promise<unknown>): Requester {
  const plainDigests = new Map<string, string>();

  return {
    async request<Result>({ body }: { body?: unknown }) {
      const [name = "", script = "", ...rest] = Array.isArray(body) ? body.map(String) : [];
      if (name === "mget") return { result: (await call(name, [script, ...rest])) as Result };
      if (name !== "eval" && name !== "evalsha")
        throw new Error(`the limiter supports only scripts and MGET, not ${name}`);
      const plain = script.replace(/^#!lua .*/, "");
      if (name === "eval") plainDigests.set(hash("sha1", script), hash("sha1", plain));
      const argument = name === "eval" ? plain : plainDigests.get(script);
      // The error of a server without the cached script. The limiter then sends the script's text.
      if (!argument) throw new Error("NOSCRIPT not run on this connection yet");
      return { result: (await call(name, [argument, ...rest])) as Result };
    },
  };
}
