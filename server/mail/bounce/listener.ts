import type { SMTPServerSession } from "smtp-server";
import type { Log } from "#server/platform/log";
import { minuteMs } from "#server/shared/durations";
import { createConnections } from "../listener/connections";
import { createRateCounter } from "../listener/rate-counter";
import { replyOf } from "../listener/reply";
import { createSmtpServer, type SmtpServer } from "../listener/server";
import { readBeginning } from "./mime";

/** Largest accepted message in bytes. Only the first MB is read: a report is always there. */
const messageBytesMaxDefault = 32 * 1024 * 1024;
const connectionsMax = 50;
const connectionsPerAddressMax = 10;
/** Connections and messages per minute, per client address and in total. */
const arrivalsPerAddressMax = 120;
const arrivalsMax = 3_000;
const messagesPerAddressMax = 600;
const messagesMax = 1_200;
const recipientsMax = 20;
/** Unknown recipients per connection. A client that reaches this limit is guessing addresses. */
const guessesMax = 10;
const firstCommandMsDefault = 10_000;
/** Limit of the SMTP library, which also counts connections before the greeting. Our own limit is lower. */
const socketsMax = 4 * connectionsMax;
const connectionMsMax = 10 * 60_000;

export type ListenerOptions = {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Host name in the greeting. */
  name: string;
  /** Whether we issued this address, whose token proves it, or it is the feedback address. */
  isOurs(address: string): boolean;
  /**
   * Processes a message for its recipients. Resolves after its effect is committed; `later` asks the client
   * to retry. Reports and automatic replies have the null sender (RFC 5321 section 4.5.5).
   */
  receive(
    bytes: Uint8Array,
    recipients: readonly string[],
    hasNullSender: boolean,
  ): Promise<"done" | "later">;
  log: Log;
  /** A client must send EHLO or HELO within this time. */
  firstCommandMs?: number;
  /** Larger messages are rejected. */
  messageBytesMax?: number;
};

export type Listener = { port: number; close(): Promise<void> };

const NO_REJECTIONS = { recipients: 0, connections: 0, messages: 0, oversized: 0, idle: 0 };

/**
 * Starts the SMTP server for bounces, complaints and aggregate reports (RFC 5321). It accepts messages
 * from any sender, including the null sender, but only to addresses of ours. It does not relay and offers
 * no login. It replies 250 after `receive` has processed the message for every recipient, and 451 on
 * failure: the client then keeps the message and retries. Connections, messages, sizes and times are
 * limited. At the connection limit an idle connection is closed. Rejections are counted and logged at
 * most once a minute. The promise rejects if the port cannot be bound.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { isOurs, receive, log } = options;
  const arrivals = createRateCounter();
  const messages = createRateCounter();
  let rejected = { ...NO_REJECTIONS };
  const logRejections = () => {
    if (Object.values(rejected).some((count) => count > 0)) log.warn("inbound.refused", rejected);
  };
  const guesses = new WeakMap<SMTPServerSession, number>();

  const connections = createConnections({
    max: connectionsMax,
    perAddressMax: connectionsPerAddressMax,
    firstCommandMs: options.firstCommandMs ?? firstCommandMsDefault,
    end: (session, reply) => {
      rejected.idle += 1;
      smtp.end(session, reply);
    },
  });

  const smtp: SmtpServer = createSmtpServer({
    name: options.name,
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS", "VRFY"],
    hideSTARTTLS: true,
    size: options.messageBytesMax ?? messageBytesMaxDefault,
    maxClients: socketsMax,
    maxRecipients: recipientsMax,
    onConnect(session, done) {
      const { remoteAddress } = session;
      const isTooMany =
        arrivals.add(remoteAddress, arrivalsPerAddressMax, arrivalsMax) || !connections.admit(session);
      if (isTooMany) {
        rejected.connections += 1;
        return done(replyOf(421, "4.7.0 Too many connections, try again later"));
      }
      done();
    },
    onClose: connections.remove,
    onMailFrom(_sender, session, done) {
      connections.recordProgress(session);
      if (!messages.add(session.remoteAddress, messagesPerAddressMax, messagesMax)) return done();
      rejected.messages += 1;
      done(replyOf(421, "4.7.0 Too many messages, try again later"));
    },
    onRcptTo({ address }, session, done) {
      if (isOurs(address)) {
        connections.recordProgress(session);
        return done();
      }
      rejected.recipients += 1;
      const count = (guesses.get(session) ?? 0) + 1;
      guesses.set(session, count);
      if (count >= guessesMax) return done(replyOf(421, "4.7.0 Too many unknown recipients"));
      done(replyOf(550, "5.7.1 Unknown return path, and relaying is denied"));
    },
    onData(stream, session, done) {
      const accept = async (): Promise<Error | null> => {
        // The stream fails if the client disconnects during the transfer; no client receives this reply then.
        const bytes = await readBeginning(stream).catch(() => null);
        if (bytes === null) return replyOf(451, "4.4.2 Incomplete message");
        if (stream.sizeExceeded) {
          rejected.oversized += 1;
          return null;
        }
        try {
          const { mailFrom, rcptTo } = session.envelope;
          const hasNullSender = mailFrom !== false && mailFrom.address === "";
          const recipients = rcptTo.map(({ address }) => address);
          if ((await receive(bytes, recipients, hasNullSender)) === "later")
            return replyOf(451, "4.3.0 Not processed yet, try again later");
        } catch (error) {
          log.warn("inbound.not_recorded", describeError(error));
          return replyOf(451, "4.3.0 Not recorded, try again later");
        }
        return null;
      };
      connections.setBusy(session, true);
      void accept().then((fault) => {
        connections.setBusy(session, false);
        done(fault);
      });
    },
  });
  smtp.server.on("error", (error) => log.info("inbound.connection_failed", describeError(error)));
  const port = await smtp.listen(options.port, options.host);
  // The idle timeout does not end a client that sends a few bytes at a time; this limit does.
  smtp.server.server.on("connection", (socket) => {
    const timer = setTimeout(() => socket.destroy(), connectionMsMax);
    socket.once("close", () => clearTimeout(timer));
  });
  const eachMinute = setInterval(() => {
    arrivals.clear();
    messages.clear();
    logRejections();
    rejected = { ...NO_REJECTIONS };
  }, minuteMs);
  return {
    port,
    async close() {
      clearInterval(eachMinute);
      await smtp.close();
      logRejections();
    },
  };
}

function describeError(error: unknown): Record<string, unknown> {
  return error instanceof Error ? { message: error.message.slice(0, 300), ...codeOf(error) } : {};
}
const codeOf = (error: Error) => ("code" in error ? { code: String(error.code) } : {});
