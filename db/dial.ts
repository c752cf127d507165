import { once } from "node:events";
import { connect, isIP, Socket } from "node:net";
import { connect as secure } from "node:tls";

/** How long a connection may take until it is made and encrypted; what is said on it then has its own limits. */
const dialTimeoutMs = 5_000;

/** PostgreSQL's SSLRequest (protocol 3.0, section 54.2.10): a length of 8 and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * To be said with the first words on a connection, so that they go out at once. One that closes just when the driver was
 * about to send leaves it believing that it still is, and short words on the next one would then wait to be sent for ever.
 * Nobody reads them: in the server's options, or where a pooler takes none, after the application's name, of which the
 * server keeps 63 characters.
 */
export const blanks: string = " ".repeat(1_024);

/** What the driver tells about the server it wants. */
type Target = { host: string[]; port: number[]; path?: string | false };

/** As libpq's `sslmode`: `prefer` takes what the server offers, `require` does not look at the certificate. */
type Encryption = "none" | "prefer" | "require" | "verify";

export type Dialer = {
  /** For the driver's options: a connected socket, or one that fails with the reason. It never rejects. */
  socket(target: Target): Promise<Socket>;
  ssl: false;
  /** Seconds until the next try. Short, so that a database that is back is found within a second. */
  backoff(): number;
};

/**
 * Makes the connections of one pool, in the driver's place. The driver goes by whether a socket closed with an error:
 * if so, it takes every statement for answered that was given to the connection since. None of those was ever sent, and
 * it lets the first one succeed with no rows, and the others wait for ever; and where it closed without one before the
 * server's greeting, it tries again without an end or a pause. So each of our sockets says an error, and then closes
 * without one: the driver rejects whatever it holds.
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
        return endsInOneWay(socket);
      } catch (error) {
        failures++;
        return endsInOneWay(new Socket().destroy(error as Error));
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
    // More than the one letter would be said before anything is encrypted (CVE-2021-23222).
    if (answer.toString() !== "S") {
      if (encryption === "prefer" && answer.toString() === "N") return plain;
      throw fault("CONNECTION_NOT_ENCRYPTED", `The database at ${where} does not encrypt its connections.`);
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

function endsInOneWay(socket: Socket): Socket {
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
