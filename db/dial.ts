import { once } from "node:events";
import { connect, isIP, Socket } from "node:net";
import { connect as secure } from "node:tls";

/** How long a connection may take until it is made and encrypted; what is said on it then has its own limits. */
const dialTimeoutMs = 5_000;

/** PostgreSQL's SSLRequest (protocol 3.0, section 54.2.10): a length of 8 and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** What the driver tells about the server it wants; of several hosts, the first. */
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
 * it lets the first one succeed with no rows, and the others wait for ever. So our sockets all close without an error;
 * then it rejects what it holds. The error itself it has heard before.
 */
export function createDialer(url: string): Dialer {
  const encryption = encryptionOf(new URL(url.replace(/,[^/@]*(?=[/?]|$)/, "")).searchParams);
  let failures = 0;
  return {
    ssl: false,
    backoff: () => Math.min(0.05 * 2 ** failures, 1),
    async socket(target) {
      try {
        const socket = await dial(target, encryption);
        failures = 0;
        return closesWithoutError(socket);
      } catch (error) {
        failures++;
        return closesWithoutError(new Socket().destroy(error as Error));
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

async function dial({ host, port, path }: Target, encryption: Encryption): Promise<Socket> {
  const plain = path ? connect(path) : connect({ host: host[0], port: port[0] ?? 5432 });
  let socket: Socket = plain;
  const signal = AbortSignal.timeout(dialTimeoutMs);
  try {
    await once(plain, "connect", { signal });
    if (encryption === "none" || path) return plain;
    plain.write(SSL_REQUEST);
    const [answer] = (await once(plain, "data", { signal })) as [Buffer];
    // More than the one letter would be said before anything is encrypted (CVE-2021-23222).
    if (answer.toString() !== "S") {
      if (encryption === "prefer" && answer.toString() === "N") return plain;
      throw Object.assign(new Error("The database does not encrypt its connections."), {
        code: "CONNECTION_NOT_ENCRYPTED",
      });
    }
    plain.removeAllListeners("data");
    const servername = isIP(host[0] ?? "") ? undefined : host[0];
    socket = secure({ socket: plain, servername, rejectUnauthorized: encryption === "verify" });
    await once(socket, "secureConnect", { signal });
    return socket;
  } catch (error) {
    socket.on("error", () => {}).destroy();
    plain.destroy();
    if (!signal.aborted) throw error;
    const server = path || `${host[0]}:${port[0]}`;
    throw Object.assign(new Error(`No connection to ${server} within ${dialTimeoutMs} ms.`), {
      code: "CONNECT_TIMEOUT",
    });
  }
}

function closesWithoutError(socket: Socket): Socket {
  const on = socket.on.bind(socket);
  return Object.assign(socket, {
    on: (event: string, listener: (...args: unknown[]) => void) =>
      on(event, event === "close" ? () => listener(false) : listener),
  });
}
