import type { Socket } from "node:net";
import type { SMTPServer, SMTPServerSession } from "smtp-server";
import { parseLongMailbox } from "#server/mail/address/address";
import { createConnections } from "#server/mail/listener/connections";
import { createRateCounter } from "#server/mail/listener/rate-counter";
import { replyOf } from "#server/mail/listener/reply";
import { createSmtpServer, type SmtpServer } from "#server/mail/listener/server";
import { rejectionOf } from "#server/platform/errors";
import { isInNetworks, rejectAddress } from "#server/platform/http/client-networks";
import { errorFacts } from "#server/platform/log";
import type { KnownKey } from "#server/services/keys/cache";
import { minuteMs } from "#server/shared/durations";
import { type Arrival, admitMessage, logCall, receiveMessage, type SubmissionDeps } from "./receive";
import { replyTo, toAppError } from "./replies";

/** Connections without a login. At the limit, the one that has been idle longest is closed. */
const waitingMax = 50;
const waitingPerAddressMax = 10;
const firstCommandMs = 10_000;
const loginMs = 30_000;
/** Failed logins per connection, and per minute and client address. */
const failuresMax = 3;
const failuresPerAddressMax = 30;
const failuresInAllMax = 600;
/** Connections with a login. */
const connectionsPerTeamMax = 100;
const socketsMax = 1_000;
/** As many as one email of the API has in its three fields. */
const recipientsMax = 150;
/**
 * Time for the handshake of implicit TLS. Until its end the limits of connections without a login apply to
 * sockets.
 */
const handshakeMs = 10_000;
const DISABLED = ["VRFY", "HELP"];
const USERS = ["backstamp", "resend"];

export type Certificate = { cert: string; key: string };

export type SubmissionOptions = {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Host name in the greeting. */
  name: string;
  /** Without a certificate the listener offers no TLS. */
  certificate: Certificate | null;
  /** TLS from the first byte (RFC 8314) instead of STARTTLS. */
  isImplicitTls: boolean;
};

export type SubmissionListener = {
  port: number;
  /** New connections use this certificate. Throws if it is invalid; the earlier one then stays in use. */
  updateCertificate(certificate: Certificate): void;
  close(): Promise<void>;
};

/**
 * Starts an SMTP server by which programs submit email (RFC 6409). A client logs in with an API key, over TLS
 * if there is a certificate. Each message is accepted by the service of the API; the 250 is sent after the
 * email is committed. Any envelope sender is accepted, because the From header decides. Unauthenticated
 * connections are limited in number and time. The promise rejects if the port cannot be bound.
 */
export async function startSubmission(
  deps: SubmissionDeps,
  { host, port, name, certificate, isImplicitTls }: SubmissionOptions,
): Promise<SubmissionListener> {
  const tokens = new WeakMap<SMTPServerSession, string>();
  const arrivals = new WeakMap<SMTPServerSession, Arrival>();
  const failures = new WeakMap<SMTPServerSession, number>();
  const logins = new Map<SMTPServerSession, { teamId: string }>();
  const timers = new Map<SMTPServerSession, NodeJS.Timeout>();
  /** A login can end after its connection: it must not be counted then, because nothing would remove it. */
  const closed = new WeakSet<SMTPServerSession>();
  const failed = createRateCounter();

  const waiting = createConnections({
    max: waitingMax,
    perAddressMax: waitingPerAddressMax,
    firstCommandMs,
    end: (session, reply) => smtp.end(session, reply),
  });

  const stopWaiting = (session: SMTPServerSession) => {
    waiting.remove(session);
    clearTimeout(timers.get(session));
    timers.delete(session);
  };

  const authenticate = async (session: SMTPServerSession, user: string, token: string): Promise<KnownKey> => {
    const key = USERS.includes(user.toLowerCase()) ? await deps.authenticate(token) : null;
    if (key && isInNetworks(session.remoteAddress, key.clientNetworks)) return key;
    if (key) logRejectedAddress(deps, session, key);
    // A token of a revoked or expired key is listed with the key, as over REST.
    else if (token !== "") logCall(deps, session.hostNameAppearsAs, { caller: { token }, status: 401 });
    const count = (failures.get(session) ?? 0) + 1;
    failures.set(session, count);
    const isBlocked = failed.add(session.remoteAddress, failuresPerAddressMax, failuresInAllMax);
    if (isBlocked || count >= failuresMax)
      throw replyOf(421, "4.7.0 Too many failed logins, try again later");
    if (key) throw replyOf(535, `5.7.8 ${rejectAddress(session.remoteAddress).message}`);
    throw replyOf(535, `5.7.8 Invalid login. The user is ${USERS[0]}, and the password is an API key`);
  };

  const admitLogin = (session: SMTPServerSession, { teamId }: KnownKey): void => {
    if (closed.has(session)) throw replyOf(421, "4.4.2 The connection is closed");
    const count = [...logins.values()].filter((one) => one.teamId === teamId).length;
    if (count >= connectionsPerTeamMax)
      throw replyOf(421, "4.7.0 Too many connections of this team, close some of them");
    stopWaiting(session);
    logins.set(session, { teamId });
  };

  const login = async (
    session: SMTPServerSession,
    user: string,
    token: string,
  ): Promise<{ user: string }> => {
    const key = await authenticate(session, user, token);
    admitLogin(session, key);
    tokens.set(session, token);
    return { user: key.id };
  };

  /** Replies with what was thrown. */
  const replyWith = (done: (error: Error) => void, requestId: string) => (thrown: unknown) =>
    done(
      thrown instanceof Error && "responseCode" in thrown
        ? thrown
        : replyTo(toAppError(thrown, deps.log, requestId)),
    );

  const smtp: SmtpServer = createSmtpServer({
    name,
    ...certificate,
    secure: isImplicitTls,
    allowInsecureAuth: certificate === null,
    hideSTARTTLS: certificate === null,
    disabledCommands: [...DISABLED, ...(certificate === null ? ["STARTTLS"] : [])],
    authMethods: ["PLAIN", "LOGIN"],
    authRequiredMessage: "5.7.0 Log in first: AUTH with the user backstamp and an API key",
    hideDSN: false,
    lenientAddressParsing: true,
    size: deps.bodyMaxBytes,
    maxClients: socketsMax,
    maxRecipients: recipientsMax,
    onConnect(session, done) {
      if (!waiting.admit(session)) return done(replyOf(421, "4.7.0 Too many connections, try again later"));
      const timer = setTimeout(
        () => smtp.end(session, "4.4.2 No login, closing the connection"),
        loginMs,
      ).unref();
      timers.set(session, timer);
      // Clients send the key in clear text if AUTH is announced before STARTTLS. While AUTH is disabled,
      // smtp-server does not require a login for MAIL, so only the check in `onMailFrom` does.
      if (certificate !== null && !isImplicitTls) session.disabledCommands = [...DISABLED, "AUTH"];
      done();
    },
    onSecure(_socket, session, done) {
      session.disabledCommands = undefined;
      done();
    },
    onClose(session) {
      closed.add(session);
      stopWaiting(session);
      logins.delete(session);
    },
    onAuth({ username, password }, session, done) {
      waiting.recordProgress(session);
      login(session, username ?? "", password ?? "").then(
        (result) => done(null, result),
        replyWith(done, session.id),
      );
    },
    onMailFrom(_sender, session, done) {
      const token = tokens.get(session);
      if (token === undefined) return done(replyOf(530, "5.7.0 Must issue a STARTTLS command first"));
      const admit = async () => {
        // The key may have been revoked or changed since the login.
        const key = await deps.authenticate(token);
        if (key && !isInNetworks(session.remoteAddress, key.clientNetworks)) {
          logRejectedAddress(deps, session, key);
          throw replyTo(rejectAddress(session.remoteAddress));
        }
        if (!key) throw replyOf(530, "5.7.0 The API key is no longer valid, log in with another one");
        const agent = session.hostNameAppearsAs || null;
        arrivals.set(session, await admitMessage(deps, { key, token, agent }));
      };
      admit().then(() => done(), replyWith(done, session.id));
    },
    onRcptTo({ address }, _session, done) {
      // The library has replaced bytes that are not UTF-8: the email would go to another address.
      if (address.includes("\ufffd"))
        return done(replyOf(553, "5.1.3 The address contains bytes that are not UTF-8"));
      const read = parseLongMailbox(address);
      done(read.ok ? undefined : replyOf(550, `5.1.3 ${read.fault}`));
    },
    onData(stream, session, done) {
      const arrival = arrivals.get(session);
      const envelope = session.envelope.rcptTo.map(({ address }) => address);
      if (!arrival) return done(replyOf(503, "5.5.1 Send MAIL first"));
      receiveMessage(deps, arrival, stream, envelope).then(
        (id) =>
          id === null
            ? done(replyOf(451, "4.4.2 The message is not complete"))
            : done(null, `2.0.0 Accepted as ${id}`),
        replyWith(done, arrival.requestId),
      );
    },
  });
  smtp.server.on("error", (error) => deps.log.info("submission.connection_failed", errorFacts(error)));
  if (isImplicitTls) limitHandshakes(smtp.server);
  const boundPort = await smtp.listen(port, host);
  const eachMinute = setInterval(() => failed.clear(), minuteMs).unref();
  return {
    port: boundPort,
    updateCertificate: (renewed) => smtp.server.updateSecureContext(renewed),
    async close() {
      clearInterval(eachMinute);
      for (const timer of timers.values()) clearTimeout(timer);
      await smtp.close();
    },
  };
}

/**
 * Limits the sockets whose TLS handshake is not complete: smtp-server reports a connection only after it. At
 * the limit, the oldest one is closed. Closes the TLS socket that smtp-server created, because closing the
 * socket below it during a handshake can crash Node.js.
 */
function limitHandshakes(server: SMTPServer): void {
  const pending = server._pendingSockets;
  const close = (socket: Socket) => pending.get(socket)?.destroy();
  server.server.on("connection", (socket: Socket) => {
    const timer = setTimeout(close, handshakeMs, socket).unref();
    socket.once("close", () => clearTimeout(timer));
    // smtp-server creates the TLS socket in an immediate of its own, which it scheduled earlier.
    setImmediate(() => {
      const same = [...pending.keys()].filter((one) => one.remoteAddress === socket.remoteAddress);
      const [oldest] = pending.keys();
      if (same.length > waitingPerAddressMax) close(socket);
      else if (oldest && pending.size > waitingMax) close(oldest);
    });
  });
}

/** A key outside of its client networks is listed with the key, as over REST. */
const logRejectedAddress = (deps: SubmissionDeps, session: SMTPServerSession, key: KnownKey): void =>
  logCall(deps, session.hostNameAppearsAs, {
    caller: { teamId: key.teamId, apiKeyId: key.id },
    status: 403,
    rejection: rejectionOf(rejectAddress(session.remoteAddress)),
  });
