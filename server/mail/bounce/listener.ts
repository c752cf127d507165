import { SMTPServer, type SMTPServerSession } from "smtp-server";
import type { Log } from "#server/log";
import { readBytesMax } from "./mime";

/** Bytes of a message that is taken; of them the first MB is read, where a report stands. */
const messageBytesMax = 32 * 1024 * 1024;
const connectionsMax = 50;
const connectionsOfOneMax = 10;
/** In a minute, of one address and of all together. */
const arrivalsOfOneMax = 120;
const arrivalsMax = 3_000;
const messagesOfOneMax = 600;
const messagesMax = 1_200;
const recipientsMax = 20;
/** Wrong recipients in one connection: beyond it somebody is guessing. */
const guessesMax = 10;
const idleMs = 60_000;
const connectionMsMax = 10 * 60_000;
const closeMsMax = 5_000;
const minuteMs = 60_000;

export type ListenerOptions = {
  host: string;
  /** 0 takes any that is free. */
  port: number;
  /** The name with which it greets. */
  name: string;
  /** Of the return paths. */
  domain: string;
  /** Whether an address is one that we gave out. */
  isOurs(address: string): boolean;
  /** Takes a message in for one of its recipients. Settles when its effect is committed; `later` if it has to come again. */
  receive(bytes: Uint8Array, recipient: string): Promise<"done" | "later">;
  log: Log;
};

export type Listener = { port: number; close(): Promise<void> };

type Refusals = Record<"recipients" | "connections" | "messages" | "oversized", number>;

/**
 * Listens for what comes back (RFC 5321), from any sender and the null one, to addresses that we gave out and to no other: it
 * relays nothing and has no login. A message is answered 250 when `receive` is done with it for each recipient, and 451 when
 * that failed, so whoever brought it keeps it until then. Connections, messages, sizes and times are capped; what is refused
 * is counted, and told in the log at most once a minute. Rejects where the port cannot be bound.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { domain, isOurs, receive, log } = options;
  const open = countPer();
  const arrivals = countPer();
  const messages = countPer();
  let refused = noRefusals();
  const guesses = new WeakMap<SMTPServerSession, number>();
  const admitted = new WeakSet<SMTPServerSession>();

  const server = new SMTPServer({
    name: options.name,
    banner: "Posthorn",
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS", "VRFY"],
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    size: messageBytesMax,
    rejectOversized: true,
    maxClients: connectionsMax,
    maxRecipients: recipientsMax,
    socketTimeout: idleMs,
    closeTimeout: closeMsMax,
    onConnect(session, done) {
      const { remoteAddress } = session;
      const isTooMany =
        arrivals.add(remoteAddress, arrivalsOfOneMax, arrivalsMax) ||
        open.add(remoteAddress, connectionsOfOneMax, connectionsMax);
      if (isTooMany) {
        refused.connections += 1;
        return done(replyOf(421, "4.7.0 Too many connections, try again later"));
      }
      admitted.add(session);
      done();
    },
    onClose(session) {
      if (admitted.has(session)) open.remove(session.remoteAddress);
    },
    onMailFrom(_sender, session, done) {
      if (!messages.add(session.remoteAddress, messagesOfOneMax, messagesMax)) return done();
      refused.messages += 1;
      done(replyOf(421, "4.7.0 Too many messages, try again later"));
    },
    onRcptTo({ address }, session, done) {
      const isHere = address.slice(address.lastIndexOf("@") + 1).toLowerCase() === domain;
      if (isHere && isOurs(address)) return done();
      refused.recipients += 1;
      const tries = (guesses.get(session) ?? 0) + 1;
      guesses.set(session, tries);
      if (tries >= guessesMax) return done(replyOf(421, "4.7.0 Too many wrong recipients"));
      done(replyOf(550, isHere ? "5.1.1 No such return path" : "5.7.1 No relaying here"));
    },
    onData(stream, session, done) {
      const take = async (): Promise<Error | null> => {
        // Rejects where whoever brings it goes away in the middle; nobody hears the answer then.
        const bytes = await readBeginning(stream).catch(() => null);
        if (bytes === null) return replyOf(451, "4.4.2 Incomplete");
        if (stream.sizeExceeded) {
          refused.oversized += 1;
          return null;
        }
        try {
          for (const { address } of session.envelope.rcptTo)
            if ((await receive(bytes, address)) === "later") return replyOf(451, "4.3.0 Not yet, try again");
        } catch (error) {
          log.warn("inbound.not_recorded", factsOf(error));
          return replyOf(451, "4.3.0 Not recorded, try again");
        }
        return null;
      };
      void take().then(done);
    },
  });
  server.on("error", (error) => log.info("inbound.connection_failed", factsOf(error)));

  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.server.off("error", reject);
      resolve();
    });
  });
  // A peer that says a little now and then is idle to nobody.
  server.server.on("connection", (socket) => {
    const patience = setTimeout(() => socket.destroy(), connectionMsMax);
    socket.once("close", () => clearTimeout(patience));
  });
  const eachMinute = setInterval(() => {
    arrivals.clear();
    messages.clear();
    if (Object.values(refused).some((count) => count > 0)) log.warn("inbound.refused", refused);
    refused = noRefusals();
  }, minuteMs);
  const address = server.server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    async close() {
      clearInterval(eachMinute);
      await new Promise<void>((resolve) => server.close(resolve));
      if (Object.values(refused).some((count) => count > 0)) log.warn("inbound.refused", refused);
    },
  };
}

const noRefusals = (): Refusals => ({ recipients: 0, connections: 0, messages: 0, oversized: 0 });

const replyOf = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

function factsOf(error: unknown): Record<string, unknown> {
  return error instanceof Error ? { message: error.message.slice(0, 300), ...codeOf(error) } : {};
}
const codeOf = (error: Error) => ("code" in error ? { code: String(error.code) } : {});

/** The first MB; the rest is taken in and forgotten. Rejects where the message ends before its end. */
async function readBeginning(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < readBytesMax) chunks.push(chunk.subarray(0, readBytesMax - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

/** Counts for each address and for all; `add` tells whether that is too many, and then does not count. */
function countPer() {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    add(address: string, ofOneMax: number, allMax: number): boolean {
      const own = counts.get(address) ?? 0;
      if (own >= ofOneMax || all >= allMax) return true;
      counts.set(address, own + 1);
      all += 1;
      return false;
    },
    remove(address: string): void {
      const own = counts.get(address) ?? 0;
      if (own > 1) counts.set(address, own - 1);
      else counts.delete(address);
      all -= 1;
    },
    clear(): void {
      counts.clear();
      all = 0;
    },
  };
}
