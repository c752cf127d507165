import { once } from "node:events";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";

const idleMs = 60_000;
const closeMsMax = 5_000;

export type SmtpServer = ReturnType<typeof createSmtpServer>;

/** An SMTP server for programs: it does no reverse lookups, and closes connections that are idle. */
export function createSmtpServer(options: SMTPServerOptions) {
  const server = new SMTPServer({
    banner: "Backstamp",
    disableReverseLookup: true,
    logger: false,
    rejectOversized: true,
    socketTimeout: idleMs,
    closeTimeout: closeMsMax,
    ...options,
  });
  return {
    server,
    /** Closes the connection of this session with reply code 421. */
    end(session: SMTPServerSession, reply: string): void {
      for (const connection of server.connections)
        if (connection.session === session) connection.send(421, reply);
    },
    /** Resolves with the port; 0 selects any free one. Rejects if it cannot be bound. */
    async listen(port: number, host: string): Promise<number> {
      server.listen(port, host);
      await once(server.server, "listening");
      const address = server.server.address();
      return typeof address === "object" && address !== null ? address.port : port;
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
