import { once } from "node:events";
import { connect, isIP, Socket } from "node:net";
import { connect as secure } from "node:tls";

/** Timeout for connecting and the TLS handshake. Statements have their own limits. */
const dialTimeoutMs = 5_000;

/** PostgreSQL's SSLRequest (protocol 3.0, section 54.2.10): a length of 8 and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Padding for the first message on a connection, so that the driver sends it immediately. If a connection
 * closes while the driver has scheduled a write, the driver's state still says "scheduled", and a short
 * message on the next connection is buffered forever. A long message bypasses the buffer. The padding has no
 * effect on the server: it is in the startup options, or, if a pooler does not accept these, after the
 * application name, which the server truncates to 63 characters.
 */
export const blanks: string = " ".repeat(1_024);

/** The server's address, as the driver passes it. */
type Target = { host: string[]; port: number[]; path?: string | false };

/**
 * As libpq's `sslmode`: `prefer` uses TLS if the server offers it; `require` does not verify the certificate.
 */
type Encryption = "none" | "prefer" | "require" | "verify";

export type Dialer = {
  /** The driver's `socket` option: a connected socket, or one that fails with the reason. Never rejects. */
  socket(target: Target): Promise<Socket>;
  ssl: false;
  /** Seconds until the next attempt. At most 1 s, so a recovered database is used within a second. */
  backoff(): number;
};

/**
 * Opens the connections of one pool instead of the driver, to work around two bugs of the driver. If a socket
 * closes with an error, the driver treats all statements queued since on that connection as answered,
 * although none was sent: the first one succeeds without rows, the others wait forever. If a socket closes
 * without an error before the server's greeting, the driver retries endlessly without a pause. So each socket
 * here emits an error and then closes without one, and the driver rejects all statements of the connection.
 */
export function createDialer(url: string): Dialer {
  const encryption = encryptionOf(new URLSearchParams(url.split("?")[1]));
  let failures = 0;
  return {
    ssl: false,
    backoff: () => Math.min(0.05 * 2 ** failures, 1),
    async socket(target) {
      try {
        const socket = await dial(target, encryption);
        failures = 0;
        return withUniformClose(socket);
      } catch (error) {
        failures++;
        return withUniformClose(new Socket().destroy(markAway(error as Error)));
      }
    },
  };
}

function encryptionOf(parameters: URLSearchParams): Encryption {
  const mode = parameters.get("sslmode") ?? parameters.get("ssl") ?? "disable";
  if (mode === "disable" || mode === "false") return "none";
  if (mode === "allow" || mode === "prefer") return "prefer";
  return mode === "require" ? "require" : "verify";
}

const fault = (code: string, message: string) => Object.assign(new Error(message), { code });

async function dial(
  { host: [host = ""], port: [port = 5432], path }: Target,
  encryption: Encryption,
): Promise<Socket> {
  const where = path || `${host}:${port}`;
  const plain = path ? connect(path) : connect({ host, port });
  let socket: Socket = plain;
  const late = AbortSignal.timeout(dialTimeoutMs);
  const gone = new AbortController();
  const hangUp = () => gone.abort();
  plain.once("close", hangUp);
  const signal = AbortSignal.any([late, gone.signal]);
  try {
    await once(plain, "connect", { signal });
    if (encryption === "none" || path) return plain;
    plain.write(SSL_REQUEST);
    const [answer] = (await once(plain, "data", { signal })) as [Buffer];
    // Bytes after the single letter would be unencrypted data injected before TLS (CVE-2021-23222).
    if (answer.toString() !== "S") {
      if (encryption === "prefer" && answer.toString() === "N") return plain;
      throw fault("CONNECTION_NOT_ENCRYPTED", `The database at ${where} does not support TLS.`);
    }
    const servername = isIP(host) ? undefined : host;
    socket = secure({ socket: plain, host, servername, rejectUnauthorized: encryption === "verify" });
    await once(socket, "secureConnect", { signal });
    return socket;
  } catch (error) {
    for (const each of [socket, plain]) each.on("error", () => {}).destroy();
    if (late.aborted) throw fault("CONNECT_TIMEOUT", `No connection to ${where} within ${dialTimeoutMs} ms.`);
    if (signal.aborted) throw fault("CONNECTION_CLOSED", `The database at ${where} closed the connection.`);
    throw error;
  } finally {
    plain.off("close", hangUp);
  }
}

/** Marks an error of the system, whose code could also be that of another connection. */
const markAway = (error: Error): Error => Object.assign(error, { isDatabaseAway: true });

function withUniformClose(socket: Socket): Socket {
  socket.on("error", markAway);
  const on = socket.on.bind(socket);
  const close = (listener: (hadError: boolean) => void) => () => {
    if (socket.listenerCount("error") > 0)
      socket.emit("error", fault("CONNECTION_CLOSED", "The connection to the database was closed."));
    listener(false);
  };
  return Object.assign(socket, {
    on: (event: string, listener: (...args: unknown[]) => void) =>
      on(event, event === "close" ? close(listener) : listener),
  });
}
