import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { readLines } from "../processes/read-lines";
import { type Certificate, makeCertificate } from "./certificate";

/** Closes the connection at this point without a reply. */
export const DROP = Symbol("drop");
/** Never replies. */
export const HANG = Symbol("hang");
/** Replies as usual, as if the script had no entry here. */
export const PASS = Symbol("pass");

/**
 * A reply (CRLF is added), raw bytes, or one of the above; `bye` replies, closes its side of the
 * connection and reads no more, `hold` replies and reads no more.
 */
export type Act =
  | string
  | Buffer
  | typeof DROP
  | typeof HANG
  | typeof PASS
  | { bye: string }
  | { hold: string };

/**
 * The state at a point where a script may act. `nth` counts this verb over the lifetime of the server, from
 * 0.
 */
export type Seen = { line: string; address: string; nth: number; connection: number };

/**
 * One act for all occurrences, acts by occurrence (the last one repeats), or a function, which may wait for
 * the test.
 */
export type Scripted = Act | readonly Act[] | ((seen: Seen) => Act | Promise<Act>);

/**
 * "body" is called at the first bytes of a message, "message" at its final dot. Verbs without an entry get
 * the usual reply.
 */
export type SmtpScript = Partial<
  Record<
    | "greeting"
    | "ehlo"
    | "helo"
    | "starttls"
    | "auth"
    | "mail"
    | "rcpt"
    | "data"
    | "body"
    | "message"
    | "rset"
    | "quit",
    Scripted
  >
>;

export type SmtpMessage = { from: string; to: string[]; bytes: Buffer; isEncrypted: boolean };

/**
 * A test server that follows a script. `messages` contains what reached its final dot, whatever the reply
 * was.
 */
export type SmtpTestServer = {
  host: string;
  port: number;
  /** All command lines of all connections, in order. */
  commands: string[];
  messages: SmtpMessage[];
  /** Bytes of message data received so far, with dot-stuffing, also of incomplete messages. */
  dataBytes(): Buffer;
  connections(): number;
  open(): number;
  /** Closes all open connections, as servers do with idle ones. */
  dropAll(): void;
  close(): Promise<void>;
};

export const EHLO_PLAIN = "250-peer.test\r\n250 8BITMIME";
export const EHLO_PIPELINING = "250-peer.test\r\n250-PIPELINING\r\n250 8BITMIME";
export const EHLO_STARTTLS = "250-peer.test\r\n250-STARTTLS\r\n250 8BITMIME";
export const EHLO_SMTPUTF8 = "250-peer.test\r\n250-SMTPUTF8\r\n250 8BITMIME";
export const EHLO_AUTH = "250-peer.test\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME";

const USUAL_REPLIES: Readonly<Record<string, string>> = {
  greeting: "220 peer.test ESMTP",
  ehlo: EHLO_PLAIN,
  helo: "250 peer.test",
  starttls: "220 go ahead",
  auth: "235 2.7.0 welcome",
  mail: "250 2.1.0 ok",
  rcpt: "250 2.1.5 ok",
  data: "354 go ahead",
  message: "250 2.0.0 kept",
  rset: "250 2.0.0 ok",
  noop: "250 2.0.0 ok",
  quit: "221 2.0.0 bye",
};

/**
 * Starts a scripted test server on a free or the given loopback port. With a certificate it supports
 * STARTTLS, or TLS from the start.
 */
export async function startSmtpTestServer(
  script: SmtpScript = {},
  options: { certificate?: Certificate; implicitTls?: boolean; host?: string; port?: number } = {},
): Promise<SmtpTestServer> {
  const { host = "127.0.0.1" } = options;
  const commands: string[] = [];
  const messages: SmtpMessage[] = [];
  const data: Buffer[] = [];
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();
  let connections = 0;

  const server = createServer({ noDelay: true }, (plain) => {
    connections += 1;
    const connection = connections;
    sockets.add(plain);
    plain.on("close", () => sockets.delete(plain));
    serve(plain, connection).catch(() => plain.destroy());
  });

  async function decide(verb: keyof SmtpScript | "noop", connection: number, line: string): Promise<Act> {
    const nth = counts.get(verb) ?? 0;
    counts.set(verb, nth + 1);
    const scripted = verb === "noop" ? undefined : script[verb];
    const address = /<([^>]*)>/.exec(line)?.[1] ?? "";
    let act: Act = PASS;
    if (typeof scripted === "function") act = await scripted({ line, address, nth, connection });
    else if (isList(scripted)) act = scripted[Math.min(nth, scripted.length - 1)] ?? PASS;
    else if (scripted !== undefined) act = scripted;
    return act === PASS ? (USUAL_REPLIES[verb] ?? PASS) : act;
  }

  async function serve(plain: Socket, connection: number): Promise<void> {
    let socket: Socket = plain;
    if (options.implicitTls) socket = secure(plain, options.certificate);
    let lines = readLines(socket);
    let envelope: { from: string; to: string[] } = { from: "", to: [] };
    plain.on("error", () => plain.destroy());

    const waitUntilClosed = () => new Promise<boolean>((resolve) => plain.on("close", () => resolve(false)));

    /** Performs an act; false ends the dialogue. */
    const perform = async (act: Act): Promise<boolean> => {
      if (act === HANG) return waitUntilClosed();
      if (act === PASS) return true;
      if (act === DROP) {
        plain.destroy();
        return false;
      }
      if (typeof act === "object" && "bye" in act) {
        socket.end(`${act.bye}\r\n`);
        plain.pause();
        return false;
      }
      if (typeof act === "object" && "hold" in act) {
        socket.write(`${act.hold}\r\n`);
        return waitUntilClosed();
      }
      socket.write(typeof act === "string" ? `${act}\r\n` : act);
      return true;
    };

    if (!(await perform(await decide("greeting", connection, "")))) return;
    for (;;) {
      const line = await lines.next();
      if (line === null) return;
      commands.push(line.toString());
      const text = line.toString();
      const verb = verbOf(text);
      const act = verb === null ? "500 5.5.2 what?" : await decide(verb, connection, text);
      if (!(await perform(act))) return;
      const reply = typeof act === "string" ? act : "";
      if (verb === "mail" && reply.startsWith("2"))
        envelope = { from: /<([^>]*)>/.exec(text)?.[1] ?? "", to: [] };
      if (verb === "rcpt" && reply.startsWith("2")) envelope.to.push(/<([^>]*)>/.exec(text)?.[1] ?? "");
      if (verb === "quit") return void socket.end();
      if (verb === "starttls" && startsTls(act)) {
        lines.stop();
        socket = secure(plain, options.certificate);
        lines = readLines(socket);
      }
      if (verb === "auth" && reply.startsWith("334")) {
        const answer = await lines.next();
        if (answer === null || !(await perform(await decide("auth", connection, answer.toString())))) return;
      }
      if (verb === "data" && reply.startsWith("354")) {
        const body: Buffer[] = [];
        for (let first = true; ; first = false) {
          const part = await lines.next();
          if (part === null) return;
          data.push(part, Buffer.from("\r\n"));
          if (first && !(await perform(await decideBody(connection)))) return;
          if (part.equals(Buffer.from("."))) break;
          body.push(part[0] === 0x2e ? part.subarray(1) : part, Buffer.from("\r\n"));
        }
        messages.push({
          ...envelope,
          bytes: Buffer.concat(body),
          isEncrypted: socket !== plain || options.implicitTls === true,
        });
        if (!(await perform(await decide("message", connection, ".")))) return;
        envelope = { from: "", to: [] };
      }
    }
  }

  const decideBody = (connection: number) =>
    script.body === undefined ? PASS : decide("body", connection, "");

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  return {
    host,
    port: portOf(server),
    commands,
    messages,
    dataBytes: () => Buffer.concat(data),
    connections: () => connections,
    open: () => sockets.size,
    dropAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function isList(scripted: Scripted | undefined): scripted is readonly Act[] {
  return Array.isArray(scripted);
}

function startsTls(act: Act): boolean {
  return typeof act === "string"
    ? act.startsWith("220")
    : Buffer.isBuffer(act) && act.toString().startsWith("220");
}

function secure(plain: Socket, certificate: Certificate = makeCertificate()): TLSSocket {
  const socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(certificate) });
  socket.on("error", () => plain.destroy());
  return socket;
}

function verbOf(line: string): keyof SmtpScript | "noop" | null {
  const verb = /^(EHLO|HELO|STARTTLS|AUTH|MAIL|RCPT|DATA|RSET|NOOP|QUIT)\b/i.exec(line)?.[1];
  return (verb?.toLowerCase() as keyof SmtpScript | "noop" | undefined) ?? null;
}

function portOf(server: Pick<Server, "address">): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}
