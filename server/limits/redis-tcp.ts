import { createHash } from "node:crypto";
import { Redis, type Requester } from "@upstash/redis";
import { Redis as TcpRedis } from "ioredis";

const connectTimeoutMs = 1_000;
const replyTimeoutMs = 1_000;
const reconnectMaxMs = 1_000;

/**
 * The Upstash client over a plain Redis connection (`redis://`, `rediss://`), for `REDIS_URL`. It connects at the first
 * command and again by itself whenever the connection is lost or silent for a second. A command is rejected at once while
 * there is no connection: nothing is queued, nothing is sent a second time.
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
      // Without a connection the command's own error says only that; the connection's says why.
      throw tcp.status === "ready" ? error : (connectionError ?? error);
    }
  }

  return { redis: new Redis(createRequester(call)), close: () => tcp.disconnect() };
}

/**
 * Runs the commands of the Upstash client through `call`. Its scripts begin with a line of flags which only Upstash's servers
 * know, so they run without it, and under the digest which they then have.
 */
function createRequester(call: (name: string, args: string[]) => Promise<unknown>): Requester {
  const plainDigests = new Map<string, string>();

  async function run(body: unknown): Promise<unknown> {
    const [name = "", script = "", ...rest] = Array.isArray(body) ? body.map(String) : [];
    if (name === "evalsha") {
      const digest = plainDigests.get(script);
      // The answer of a server which has not seen the script: the limiter then sends its text.
      if (!digest) throw new Error("NOSCRIPT not run on this connection yet");
      return await call("evalsha", [digest, ...rest]);
    }
    if (name === "eval") {
      const plain = script.replace(/^#!lua .*/, "");
      plainDigests.set(sha1(script), sha1(plain));
      return await call("eval", [plain, ...rest]);
    }
    throw new Error(`the limiter runs scripts only, not ${name}`);
  }

  return {
    async request<Result>(request: { body?: unknown }) {
      return { result: (await run(request.body)) as Result };
    },
  };
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
